import { hostname } from "node:os";
import { LockUnavailableError } from "../../../application/ports/lock-errors";
import { configAt, type PostgresPlace } from "../../persistence/postgres/postgres-place";
import type { Attempt, AttemptRequest, LockBackend, Semaphore } from "../lock-backend";
import { systemLockClock, type LockClock } from "../lock-clock";
import type { LockProviderSettings } from "../lock-settings";
import type { AgreedPermits } from "../slots/agreed-permits";
import { slotsOver } from "../slots/slot-search";
import { checkExclusion, UselessLocksError } from "./check-exclusion";
import { PostgresLockCalls, type AttemptRow } from "./postgres-lock-calls";
import { PostgresLockStatements } from "./postgres-lock-statements";
import {
  checkedSchema,
  createLockSchema,
  DEFAULT_LOCK_SCHEMA,
  lockKey,
  lockSchemaIsThere,
  raiseFences,
} from "./postgres-lock-schema";
import { PostgresPermits } from "./postgres-permits";
import { PostgresSession } from "./postgres-session";
import { PostgresTenure } from "./postgres-tenure";
import { silenceLeftMs } from "./young-server";

export interface PostgresLockOptions extends LockProviderSettings {
  /** Made if it is missing. Locks of two schemas do not exclude each other. Default: `holdfast_locks`. */
  readonly schema?: string;
  /** How often the server is asked for a sign of life. Default 2 s. */
  readonly heartbeatMs?: number;
  /** A question unanswered for this long ends the session and all its locks. Default 5 s. */
  readonly answerTimeoutMs?: number;
}

export const HEARTBEAT_MS = 2_000;
export const ANSWER_TIMEOUT_MS = 5_000;
/** SQLSTATE: no such user or database, wrong password, not allowed. Asking again does not help. */
const PERMANENT = /^(28...|3D000|42501)$/;

/** One session for all locks of this process: what it holds, the server frees when the session ends, for whatever reason. */
export class PostgresLockBackend implements LockBackend {
  readonly adapter = "postgres";
  private readonly statements: PostgresLockStatements;
  private readonly schema: string;
  private readonly clock: LockClock;
  private readonly host = hostname();
  private opening: Promise<PostgresSession> | undefined;
  private current: PostgresSession | undefined;
  private readonly calls = new WeakMap<PostgresSession, PostgresLockCalls>();
  /** There has been a session. */
  hasConnected = false;
  /** The server lends a lock to the session that has it as often as it asks: within this process, only this tells. */
  private readonly held = new Map<bigint, PostgresTenure>();
  private readonly permits: PostgresPermits;
  private readonly wakers = new Map<string, Set<() => void>>();
  private readonly closing = new AbortController();
  /** On the monotonic clock; before that the server is too young. */
  private lendsFromMs = -Infinity;
  private highestFence = 0n;

  constructor(
    private readonly place: PostgresPlace,
    private readonly options: PostgresLockOptions = {},
  ) {
    configAt(place); // rejects what is none
    this.schema = checkedSchema(options.schema ?? DEFAULT_LOCK_SCHEMA);
    this.statements = new PostgresLockStatements(this.schema);
    this.clock = options.clock ?? systemLockClock;
    this.permits = new PostgresPermits(() => this.session(), this.schema);
  }

  async attempt(resourceId: string, request: AttemptRequest): Promise<Attempt> {
    try {
      return await this.attemptOn(await this.session(), resourceId, request);
    } catch (error) {
      throw unavailable(resourceId, error);
    }
  }

  onReleased(resourceId: string, wake: () => void): () => void {
    const key = String(lockKey(this.schema, resourceId));
    const wakers = this.wakers.get(key) ?? new Set();
    this.wakers.set(key, wakers.add(wake));
    return () => {
      wakers.delete(wake);
      if (wakers.size === 0 && this.wakers.get(key) === wakers) this.wakers.delete(key);
    };
  }

  slots(semaphore: Semaphore): LockBackend {
    const { permits } = this;
    const inWords = (resourceId: string) => (error: unknown) => {
      throw unavailable(resourceId, error);
    };
    const agreed: AgreedPermits = {
      read: (id) => permits.read(id).catch(inWords(id)),
      replace: (id, ...change) => permits.replace(id, ...change).catch(inWords(id)),
    };
    return slotsOver(this, agreed, semaphore);
  }

  /** Rejects when the server does not answer. */
  async probe(): Promise<void> {
    await (await this.session()).ask("SELECT 1");
  }

  async close(): Promise<void> {
    const { opening } = this;
    this.opening = Promise.reject(new Error("the lock provider is closed"));
    this.opening.catch(() => {});
    this.closing.abort("its lock provider was closed");
    await opening?.catch(() => {});
    const session = this.current;
    this.current = undefined;
    await session?.end("its lock provider was closed");
  }

  private async attemptOn(
    session: PostgresSession,
    resourceId: string,
    { purpose, mayWait }: AttemptRequest,
  ): Promise<Attempt> {
    const key = lockKey(this.schema, resourceId);
    if (this.held.has(key)) return { kind: "held" };
    const tooYoungForMs = this.lendsFromMs - this.clock.monotonicMs();
    if (tooYoungForMs > 0) throw new Error(justStarted(tooYoungForMs));
    let row: AttemptRow;
    try {
      row = await this.callsOf(session).attempt({ key, resourceId, purpose, mayWait });
    } catch (error) {
      // A statement that failed may have taken the lock before it did: the lock belongs to the session, not to it.
      await this.unlockOrLose(session, key, "a lock may be left over");
      throw error;
    }
    if (row.fence === null) return heldBy(row.holder);
    const { fence } = row;
    if (fence > this.highestFence) this.highestFence = fence;
    const tenure = new PostgresTenure(resourceId, fence, session, () => this.giveBack(session, key, fence));
    this.held.set(key, tenure);
    return { kind: "acquired", tenure };
  }

  /** Never rejects. */
  private async giveBack(session: PostgresSession, key: bigint, fence: bigint): Promise<void> {
    try {
      if (!session.lost.aborted) await this.callsOf(session).release(key, fence);
    } catch {
      // The note about the holder could not be removed, say. The lock itself is all that matters.
      await this.unlockOrLose(session, key, "a lock could not be given back");
    } finally {
      this.held.delete(key);
    }
  }

  /** A lock that cannot be given back alone ends with its session. */
  private async unlockOrLose(session: PostgresSession, key: bigint, reason: string): Promise<void> {
    if (session.lost.aborted) return;
    await this.callsOf(session)
      .unlock(key)
      .catch(() => session.lose(reason));
  }

  private callsOf(session: PostgresSession): PostgresLockCalls {
    const known = this.calls.get(session) ?? new PostgresLockCalls(session, this.statements, this.host);
    this.calls.set(session, known);
    return known;
  }

  private session(): Promise<PostgresSession> {
    if (this.current?.lost.aborted === true) {
      this.current = undefined;
      this.opening = undefined;
    }
    this.opening ??= this.open().catch((error: unknown) => {
      this.opening = undefined;
      throw error;
    });
    return this.opening;
  }

  private async open(): Promise<PostgresSession> {
    const { place, clock, options } = this;
    const session = await PostgresSession.open({
      place,
      clock,
      heartbeatMs: options.heartbeatMs ?? HEARTBEAT_MS,
      answerTimeoutMs: options.answerTimeoutMs ?? ANSWER_TIMEOUT_MS,
      prepare: (opened) => this.prepare(opened),
      abandoned: this.closing.signal,
    });
    this.current = session;
    this.hasConnected = true;
    session.lost.addEventListener("abort", () => this.loseTenuresOf(session));
    return session;
  }

  private loseTenuresOf(session: PostgresSession): void {
    for (const [key, tenure] of this.held) {
      if (!tenure.isOf(session)) continue;
      this.held.delete(key);
      tenure.lose(String(session.lost.reason));
    }
  }

  private async prepare(session: PostgresSession): Promise<void> {
    await checkExclusion(session, this.place, this.schema);
    const [schema] = await session.ask<{ there: boolean }>(lockSchemaIsThere(this.schema));
    if (schema?.there !== true) await session.ask(createLockSchema(this.schema));
    await session.ask(raiseFences(this.schema, this.highestFence));
    await session.ask(this.statements.forgetTheDead);
    session.onNotice((key) => this.wakers.get(key)?.forEach((wake) => wake()));
    await session.ask(this.statements.listen);
    this.lendNothingFor(await silenceLeftMs(session), session);
  }

  private lendNothingFor(delayMs: number, session: PostgresSession): void {
    this.lendsFromMs = this.clock.monotonicMs() + delayMs;
    if (delayMs <= 0) return;
    const cancel = this.clock.after(delayMs, () => {
      for (const wakers of this.wakers.values()) for (const wake of wakers) wake();
    });
    session.lost.addEventListener("abort", cancel);
  }
}

function justStarted(leftMs: number): string {
  return (
    "PostgreSQL has just started: nothing is lent for another " +
    `${(leftMs / 1000).toFixed(1)} s, because who held locks before may not know yet that they are gone`
  );
}

function heldBy(row: AttemptRow["holder"]): Attempt {
  if (row === null) return { kind: "held" };
  const { session, host, pid, purpose, since } = row;
  return {
    kind: "held",
    holder: { host, pid, since: new Date(since), ...(purpose === null ? {} : { purpose }) },
    advice: `end that process; its locks end with its session: SELECT pg_terminate_backend(${session})`,
  };
}

function unavailable(resourceId: string, error: unknown): LockUnavailableError {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown };
  const permanent = error instanceof UselessLocksError || (typeof code === "string" && PERMANENT.test(code));
  return new LockUnavailableError(resourceId, String(message), { cause: error, permanent });
}
