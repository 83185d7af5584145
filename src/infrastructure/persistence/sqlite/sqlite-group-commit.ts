import { CompiledQuery } from "kysely";
import { outcomeUnknown, StoreUnavailableError } from "../../../application/ports/payment-repository";

/** What a group needs of its connection. */
export interface GroupConnection {
  run(query: CompiledQuery): unknown;
  /** False when SQLite has ended the transaction by itself, as it does when the disk is full. */
  isInTransaction(): boolean;
  /** On the line before the commit; a part of it. Returns what to do once it is on the disk, before anybody is told. */
  onCommitting(writes: number): () => void;
}

/** One who writes. Whatever becomes of it is true when `settled` has resolved, and not before. */
export interface Membership {
  /** Rejects when the disk did not take what was kept. */
  readonly settled: Promise<void>;
  keep(): void;
  undo(reason?: unknown): void;
}

const BEGIN = CompiledQuery.raw("BEGIN IMMEDIATE");
const COMMIT = CompiledQuery.raw("COMMIT");
const ROLLBACK = CompiledQuery.raw("ROLLBACK");
const SAVEPOINT = CompiledQuery.raw("SAVEPOINT member");
const RELEASE = CompiledQuery.raw("RELEASE member");
const ROLLBACK_TO = CompiledQuery.raw("ROLLBACK TO member");

/**
 * One wait for the disk for all who write in the same round of the event loop. Each is undone alone, all are committed
 * together, and nobody is told anything before the commit has returned: what is shared is the wait, not the risk.
 */
export class GroupCommit {
  private group: Group | undefined;

  constructor(private readonly connection: GroupConnection) {}

  /** Something is being written that the disk does not have yet. */
  get isUnderway(): boolean {
    return this.group !== undefined;
  }

  /** Resolves when that is on the disk or undone. */
  async over(): Promise<void> {
    await this.group?.settled.catch(() => {});
  }

  /** Takes the write lock with the first. Must be kept or undone before the next enters. */
  enter(): Membership {
    const { connection } = this;
    if (this.group !== undefined) {
      connection.run(SAVEPOINT);
      return this.member(this.group, false);
    }
    connection.run(BEGIN);
    const group = new Group();
    this.group = group;
    setImmediate(() => {
      group.isDue = true;
      this.commitIfDue(group);
    });
    return this.member(group, true);
  }

  /** At once, for who is about to close the connection. */
  commit(): void {
    const { group } = this;
    if (group === undefined) return;
    group.isDue = true;
    this.commitIfDue(group);
  }

  private member(group: Group, isFirst: boolean): Membership {
    const { connection } = this;
    group.isEntered = true;
    const leave = (): void => {
      group.isEntered = false;
      this.commitIfDue(group);
    };
    return {
      settled: group.settled,
      keep: () => {
        group.writes += 1;
        try {
          if (!isFirst) connection.run(RELEASE);
          leave();
        } catch (error) {
          this.abandon(group, error);
        }
      },
      undo: (reason) => {
        if (!connection.isInTransaction()) return this.abandon(group, reason);
        try {
          // Nobody else is in it as long as the first one is.
          if (isFirst) {
            connection.run(ROLLBACK);
            return this.end(group);
          }
          connection.run(ROLLBACK_TO);
          connection.run(RELEASE);
          leave();
        } catch (error) {
          this.abandon(group, error);
        }
      },
    };
  }

  private commitIfDue(group: Group): void {
    if (this.group !== group || !group.isDue || group.isEntered) return;
    let isCommitting = false;
    try {
      const onCommitted = this.connection.onCommitting(group.writes);
      isCommitting = true;
      this.connection.run(COMMIT);
      onCommitted();
      this.end(group);
    } catch (error) {
      this.abandon(group, error, isCommitting);
    }
  }

  /** Of all of it, nothing was written. What refused one of them must not look to the others like a refusal of theirs. */
  private abandon(group: Group, reason: unknown, isCommitting = false): void {
    const failure =
      reason instanceof StoreUnavailableError
        ? reason
        : new StoreUnavailableError("SQLite has undone what was written together", { cause: reason });
    // A commit that the disk did not confirm may be found in the log after a crash.
    const error = isCommitting ? outcomeUnknown(failure) : failure;
    try {
      if (this.connection.isInTransaction()) this.connection.run(ROLLBACK);
    } finally {
      this.end(group, error);
    }
  }

  private end(group: Group, error?: StoreUnavailableError): void {
    this.group = undefined;
    if (error === undefined) group.succeed();
    else group.fail(error);
  }
}

class Group {
  /** The round in which it began is over. */
  isDue = false;
  /** How many of its members have kept what they wrote. */
  writes = 0;
  /** One of its members is still writing. */
  isEntered = false;
  succeed!: () => void;
  fail!: (error: StoreUnavailableError) => void;
  readonly settled = new Promise<void>((resolve, reject) => {
    this.succeed = resolve;
    this.fail = reject;
  });

  constructor() {
    // Its members hear of it; when all of them were undone, there is nobody to hear.
    this.settled.catch(() => {});
  }
}
