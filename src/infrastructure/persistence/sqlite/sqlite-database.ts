import { realpathSync, statSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import type { CompiledQuery } from "kysely";
import { SqliteAdapter, SqliteQueryCompiler } from "kysely";
import type { AuditEntry } from "../../../application/ports/audit/audit-trail";
import { StoreUnavailableError } from "../../../application/ports/payment-repository";
import { insertEntry } from "../audit/audit-rows";
import { queryBuilder, type SqlDatabase } from "../sql/sql-database";
import { loadSqlite, type DatabaseSync, type StatementSync } from "./sqlite-driver";
import { isBusy, translateSqliteError } from "./sqlite-errors";
import { makeWritableFile } from "./sqlite-file";
import { setPragmas } from "./sqlite-pragmas";
import { assertLogIsWhole, hasLog, SqliteCommitMark, type LostLog } from "./sqlite-commit-mark";
import { LONG_TRIAL, SMALL_TRIAL, TRIAL_TABLE } from "./sqlite-write-trials";
import { GroupCommit, type Membership } from "./sqlite-group-commit";
import { WriteReadiness } from "../write-readiness";

/** A wait for another process stops everything in this one, so it is short. Its transactions are, too. */
const BUSY_TIMEOUT_MS = 250;
/** Processes that start together may meet while they switch a new file to WAL. */
const OPEN_ATTEMPTS = 20;
const BETWEEN_ATTEMPTS_MS = 100;
/** They return rows, too, and are commits like others. */
const WRITING: ReadonlySet<string> = new Set(["InsertQueryNode", "UpdateQueryNode", "DeleteQueryNode"]);

export interface SqliteOptions {
  /** An operator knows that the log is gone and goes on with what is there. */
  readonly acceptLostLog?: boolean;
}

/**
 * One connection to one file, used synchronously: what runs in `transaction` meets nobody else of this process.
 * Survives the death of process and machine: a commit returns when it is on the disk (WAL, `synchronous=FULL`).
 * Not for a file on a network, nor for several servers on one file.
 */
export class SqliteDatabase implements SqlDatabase {
  readonly engine = "sqlite";
  readonly queries = queryBuilder(new SqliteAdapter(), new SqliteQueryCompiler());
  /** By their text. There are as many as there are shapes of queries, a few dozen. */
  private readonly statements = new Map<string, StatementSync>();
  private readonly commits = new GroupCommit({
    run: (query) => this.run(query),
    isInTransaction: () => this.connection.isTransaction,
    onCommitting: (writes) => {
      const commits = this.guarded(() => this.mark.next());
      return () => {
        this.mark.committed(commits);
        this.onCommit?.(writes);
        this.readiness.succeeded();
      };
    },
  });
  private readonly readiness = new WriteReadiness({
    small: () => this.tryToWrite(SMALL_TRIAL),
    long: () => this.tryToWrite(LONG_TRIAL),
  });

  /** Told how many writes each commit has made durable. */
  onCommit: ((writes: number) => void) | undefined;

  private constructor(
    private readonly connection: DatabaseSync,
    private readonly path: string,
    private readonly identity: string | null,
    private readonly mark: SqliteCommitMark,
  ) {}

  /**
   * Opens the file for writing, and makes it and its folder if they are missing. One that has lost its log is opened to be
   * read, unless that is accepted.
   */
  static async open(path: string, options: SqliteOptions = {}): Promise<SqliteDatabase> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        const { connection, mark } = connect(path, options.acceptLostLog ?? false);
        return new SqliteDatabase(connection, path, identityOf(path), mark);
      } catch (error) {
        if (attempt < OPEN_ATTEMPTS && isBusy(error)) {
          await wait(BETWEEN_ATTEMPTS_MS);
          continue;
        }
        throw unavailable(path, error);
      }
    }
  }

  get lostLog(): LostLog | null {
    return this.mark.lost;
  }

  /** Waits for what is being written: nobody is shown what the disk does not have. */
  async rows<Row>(query: CompiledQuery<Row>): Promise<readonly Row[]> {
    if (WRITING.has(query.query.kind)) return this.written(query);
    while (this.commits.isUnderway) await this.commits.over();
    return this.all(query);
  }

  async acted<Row>(query: CompiledQuery<Row>, entry: AuditEntry | undefined): Promise<readonly Row[]> {
    return this.written(query, (rows) => {
      if (rows.length > 0) this.keep(entry);
    });
  }

  /** Inside a transaction: what it tells of is written with it. */
  keep(entry: AuditEntry | undefined): void {
    if (entry !== undefined) this.run(insertEntry(this.queries, entry));
  }

  /** The same at once: inside a transaction there is nothing to wait for. */
  all<Row>(query: CompiledQuery<Row>): readonly Row[] {
    return this.guarded(() => this.statement(query.sql).all(...bindable(query)) as Row[]);
  }

  /** Resolves with how many rows it wrote. */
  run(query: CompiledQuery): number {
    return this.guarded(() => Number(this.statement(query.sql).run(...bindable(query)).changes));
  }

  /** Statements without values, as a migration has them. */
  execute(text: string): void {
    this.guarded(() => {
      this.connection.exec(text);
    });
  }

  /**
   * Runs the work in a transaction and resolves when that is on the disk. False or an exception undoes it. The write lock
   * is taken first, so that what it reads is still so when it writes.
   */
  async transaction(work: () => boolean): Promise<boolean> {
    const member = this.enter();
    let isKept: boolean;
    try {
      isKept = work();
    } catch (error) {
      member.undo(error);
      await member.settled;
      throw error;
    }
    if (isKept) member.keep();
    else member.undo();
    await member.settled;
    return isKept;
  }

  /** The same for work that awaits its own statements. Whoever enters keeps everybody else out until it leaves. */
  enter(): Membership {
    assertLogIsWhole(this.lostLog);
    if (!this.commits.isUnderway) this.assertInPlace();
    return this.commits.enter();
  }

  /** A file that was deleted goes on taking writes, and they are gone with the last process that has it open. */
  assertInPlace(): void {
    if (identityOf(this.path) === this.identity) return;
    throw new StoreUnavailableError(
      `${this.path} was removed or replaced while it was open: what is written to it now would be lost`,
      { reason: "replaced" },
    );
  }

  /** Rejects with `StoreUnavailableError` where it cannot be written. */
  async assertWritable(): Promise<void> {
    assertLogIsWhole(this.lostLog);
    this.assertInPlace();
    await this.readiness.ask();
  }

  /** Brings what is in the log into the file, as far as nobody reads it. */
  checkpoint(): void {
    this.execute("PRAGMA wal_checkpoint(PASSIVE)");
  }

  close(): void {
    if (!this.connection.isOpen) return;
    this.commits.commit();
    this.statements.clear();
    try {
      // The last close would do this, but the package keeps the connection until its statements are collected.
      this.connection.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      // From here on the header says that the file is whole without a log. Refused while others have the file open.
      if (this.lostLog?.isAccepted !== false) {
        this.connection.exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = DELETE");
      }
    } catch {
      // Nothing is lost: what is in the log is read from there when the file is opened again.
    }
    this.connection.close();
    this.mark.close();
  }

  private async written<Row>(
    query: CompiledQuery<Row>,
    andThen: (rows: readonly Row[]) => void = () => {},
  ): Promise<readonly Row[]> {
    let rows: readonly Row[] = [];
    await this.transaction(() => {
      rows = this.all(query);
      andThen(rows);
      return true;
    });
    return rows;
  }

  private async tryToWrite(trial: CompiledQuery): Promise<void> {
    await this.transaction(() => {
      this.execute(TRIAL_TABLE);
      this.run(trial);
      return true;
    });
  }

  /** Also notes what shows that nothing can be written. A lock of another process, or a refusal, is no such thing. */
  private guarded<Result>(work: () => Result): Result {
    try {
      return work();
    } catch (error) {
      const translated = translateSqliteError(error);
      if (translated instanceof StoreUnavailableError && translated.reason !== "no_answer")
        this.readiness.failed(translated);
      throw translated;
    }
  }

  private statement(text: string): StatementSync {
    const known = this.statements.get(text);
    if (known !== undefined) return known;
    const prepared = this.connection.prepare(text);
    prepared.setReadBigInts(true);
    this.statements.set(text, prepared);
    return prepared;
  }
}

function connect(path: string, acceptLostLog: boolean): { connection: DatabaseSync; mark: SqliteCommitMark } {
  makeWritableFile(path);
  const file = realpathSync(path);
  const hadLog = hasLog(file);
  const { DatabaseSync } = loadSqlite();
  const connection = new DatabaseSync(path);
  let mark: SqliteCommitMark | undefined;
  try {
    // What a member of a group could undo is kept in memory: in a file, which has no part in durability, it is most of
    // what a group writes.
    connection.exec(
      `PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}; PRAGMA synchronous = FULL; PRAGMA temp_store = MEMORY`,
    );
    mark = SqliteCommitMark.open(connection, file, hadLog, acceptLostLog);
    setPragmas(connection, path);
    return { connection, mark };
  } catch (error) {
    mark?.close();
    connection.close();
    throw error;
  }
}

/** Null where there is nothing, or nothing that may be looked at. */
function identityOf(path: string): string | null {
  try {
    const { dev, ino } = statSync(path);
    return `${dev} ${ino}`;
  } catch {
    return null;
  }
}

function bindable(query: CompiledQuery): (string | bigint | number | null)[] {
  return query.parameters as (string | bigint | number | null)[];
}

function unavailable(path: string, error: unknown): StoreUnavailableError {
  if (error instanceof StoreUnavailableError) return error;
  const reason = (error as { message?: unknown } | null)?.message;
  return new StoreUnavailableError(`${path} cannot be opened as a SQLite database: ${String(reason)}`, {
    cause: error,
  });
}
