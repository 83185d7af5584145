import { GroupedCalls } from "../../persistence/postgres/together/grouped-calls";
import { MOST_TOGETHER } from "../../persistence/postgres/together/most-together";
import { textArray } from "../../persistence/postgres/together/text-array";
import type { PostgresLockStatements } from "./postgres-lock-statements";
import { storableId } from "./postgres-lock-schema";
import type { PostgresSession } from "./postgres-session";

export interface AttemptCall {
  readonly key: bigint;
  readonly resourceId: string;
  readonly purpose: string | undefined;
  readonly mayWait: boolean;
}

export interface AttemptRow {
  readonly key: bigint;
  readonly fence: bigint | null;
  /** As JSON has it. */
  readonly holder: {
    readonly session: number;
    readonly host: string;
    readonly pid: number;
    readonly purpose: string | null;
    readonly since: string;
  } | null;
}

interface ReleaseCall {
  readonly key: bigint;
  readonly fence: bigint;
}

/** What is asked of one session for its locks: attempts of one round of the event loop together, and releases, too. */
export class PostgresLockCalls {
  private readonly attempts: GroupedCalls<AttemptCall, AttemptRow | "alone">;
  private readonly releases: GroupedCalls<ReleaseCall, void>;

  constructor(
    private readonly session: PostgresSession,
    private readonly statements: PostgresLockStatements,
    private readonly host: string,
  ) {
    // Of one key, a process makes one attempt at a time, and none while it holds the lock.
    this.attempts = new GroupedCalls({ most: MOST_TOGETHER, send: (calls) => this.together(calls) });
    this.releases = new GroupedCalls({ most: MOST_TOGETHER, send: (calls) => this.giveBack(calls) });
  }

  /** Rejects after an attempt that may have taken the lock before it failed. */
  async attempt(call: AttemptCall): Promise<AttemptRow> {
    const told = await this.attempts.ask(call);
    if (told !== "alone") return told;
    // What failed may have been a neighbour's: it has taken some of the locks all the same, for locks are the session's.
    await this.unlock(call.key);
    const [row] = await this.take([call]);
    return answered(row);
  }

  release(key: bigint, fence: bigint): Promise<void> {
    return this.releases.ask({ key, fence });
  }

  async unlock(key: bigint): Promise<void> {
    await this.session.ask(this.statements.unlock, [key]);
  }

  private async together(calls: readonly AttemptCall[]): Promise<readonly (AttemptRow | "alone")[]> {
    try {
      const rows = await this.take(calls);
      const byKey = new Map(rows.map((row) => [row.key, row]));
      return calls.map(({ key }) => answered(byKey.get(key)));
    } catch (error) {
      if (calls.length === 1 || this.session.lost.aborted) throw error;
      return calls.map(() => "alone");
    }
  }

  private take(calls: readonly AttemptCall[]): Promise<readonly AttemptRow[]> {
    return this.session.ask<AttemptRow>(this.statements.attempt, [
      `{${calls.map(({ key }) => key).join(",")}}`,
      textArray(calls.map(({ resourceId }) => storableId(resourceId))),
      textArray(calls.map(({ purpose }) => purpose?.replaceAll("\0", "") ?? null)),
      `{${calls.map(({ mayWait }) => mayWait).join(",")}}`,
      this.host,
      process.pid,
    ]);
  }

  private async giveBack(calls: readonly ReleaseCall[]): Promise<readonly void[]> {
    const [first] = calls;
    if (calls.length === 1 && first !== undefined) {
      await this.session.ask(this.statements.release, [first.key, first.fence]);
    } else {
      const places = Array.from({ length: MOST_TOGETHER }, (_, i) => calls[i]);
      const values = places.flatMap((call) => [call?.key ?? null, call?.fence ?? null]);
      await this.session.ask(this.statements.releaseMany, values);
    }
    return calls.map(() => undefined);
  }
}

function answered(row: AttemptRow | undefined): AttemptRow {
  if (row === undefined) throw new Error("PostgreSQL answered with nothing");
  return row;
}
