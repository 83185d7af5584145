import { hostname } from "node:os";
import type { Duplex } from "node:stream";
import { connectionConfig } from "../../persistence/postgres/postgres-connection";
import { loadPostgres, type Client, type QueryConfig } from "../../persistence/postgres/postgres-driver";
import { socketTo, type PostgresPlace } from "../../persistence/postgres/postgres-place";
import type { LockClock } from "../lock-clock";
import { sessionTimes, type SessionTimes } from "./session-times";

export interface SessionSettings {
  readonly place: PostgresPlace;
  readonly clock: LockClock;
  /** The server is asked for a sign of life this often. */
  readonly heartbeatMs: number;
  /** A request that is unanswered for this long ends the session, and every lock with it. */
  readonly answerTimeoutMs: number;
  /** Run once, when the session begins. */
  readonly prepare: (session: PostgresSession) => Promise<void>;
  /** Nobody wants the session any more, also while it is still being made. */
  readonly abandoned?: AbortSignal;
}

/**
 * What the server is told about the other end: after a silence it ends the session, and frees its locks. By then this
 * end has given them up, also if neither hears of the other any more (`session-times.ts`).
 * That a lock is held is found by asking for it, and never a conflict between transactions, whatever the server's default
 * is. Plans are made while the tables are small and kept for the session: they have to go through the index. What this
 * server does not know is left out.
 */
const serverSettings = ({ keepalives, serverSilenceMs }: SessionTimes): string => `
  SELECT set_config(name, wanted.value, false)
  FROM (VALUES ('tcp_keepalives_idle', '${keepalives.idleS}'),
    ('tcp_keepalives_interval', '${keepalives.intervalS}'), ('tcp_keepalives_count', '${keepalives.count}'),
    ('tcp_user_timeout', '${serverSilenceMs}'), ('idle_session_timeout', '0'), ('statement_timeout', '3000'),
    ('synchronous_commit', 'on'), ('default_transaction_isolation', 'read committed'),
    ('enable_seqscan', 'off'), ('enable_bitmapscan', 'off'),
    ('enable_hashjoin', 'off'), ('enable_mergejoin', 'off')) AS wanted (name, value)
  JOIN pg_settings USING (name)`;

/**
 * A connection that is one session on the server, or no connection at all. Questions are sent as they come and answered
 * in that order, each in a transaction of its own: a release does not keep the next attempt waiting for its answer.
 */
export class PostgresSession {
  private readonly losing = new AbortController();
  readonly lost: AbortSignal = this.losing.signal;
  private readonly socket: Duplex;
  private readonly client: Client;
  /** When the last answer came, by both clocks. */
  private answeredMs = 0;
  private answeredWallMs = 0;
  /** For how long the machine had slept when a heartbeat was last answered. */
  private asleepMs = 0;
  private unanswered = 0;
  /** The first question after the last answer was asked then, or the last answer came then. */
  private silentSinceMs = 0;
  private cancelSilenceLimit: (() => void) | undefined;
  private cancelHeartbeat: () => void = () => {};
  private readonly names = new Map<string, string>();
  private readonly listeners = new Set<(payload: string) => void>();
  private readonly times: SessionTimes;

  private constructor(private readonly settings: SessionSettings) {
    this.times = sessionTimes(settings.heartbeatMs, settings.answerTimeoutMs);
    const { Client } = loadPostgres();
    this.socket = socketTo(settings.place);
    this.client = new Client({
      ...connectionConfig(settings.place, `holdfast locks ${hostname()}:${process.pid}`),
      pipeline: true,
      // Made here, so that a connection which no longer answers can be ended without asking it.
      stream: () => this.socket,
    });
    this.client.on("error", (error) => this.lose(`the connection to PostgreSQL failed (${error.message})`));
    this.client.on("end", () => this.lose("the connection to PostgreSQL has ended"));
    this.client.on("notification", ({ payload }) => {
      for (const listener of this.listeners) listener(payload ?? "");
    });
  }

  /** Takes `answerTimeoutMs` at most, whoever does not answer. */
  static async open(settings: SessionSettings): Promise<PostgresSession> {
    const session = new PostgresSession(settings);
    const { clock, answerTimeoutMs, abandoned } = settings;
    const abandon = (): void => session.lose(String(abandoned?.reason));
    const cancel = clock.after(answerTimeoutMs, () =>
      session.lose(`PostgreSQL did not let us in within ${answerTimeoutMs} ms`),
    );
    abandoned?.addEventListener("abort", abandon);
    try {
      if (abandoned?.aborted === true) abandon();
      await session.unlessLost(session.client.connect());
      session.noteLife();
      session.asleepMs = clock.asleepMs?.() ?? 0;
      await session.ask(serverSettings(session.times));
      await session.unlessLost(settings.prepare(session));
      session.beat();
      return session;
    } catch (error) {
      const reason = session.lost.aborted ? new Error(String(session.lost.reason), { cause: error }) : error;
      session.lose("it could not be opened");
      throw reason;
    } finally {
      cancel();
      abandoned?.removeEventListener("abort", abandon);
    }
  }

  /** Rejects with the driver's error; if the session was lost over it, `lost` has fired by then. */
  async ask<Row>(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    const reason = this.whyLost();
    if (reason !== null) throw new Error(reason);
    if (this.unanswered === 0) this.silentSinceMs = this.settings.clock.monotonicMs();
    this.unanswered += 1;
    if (this.cancelSilenceLimit === undefined) this.limitSilence(this.silentSinceMs);
    try {
      const { rows } = await this.client.query(this.prepared(text, values));
      this.noteLife();
      return rows as Row[];
    } catch (error) {
      // An answer that is an error is an answer.
      if (!this.lost.aborted && isFromServer(error)) this.noteLife();
      else this.lose(`the connection to PostgreSQL failed (${String((error as Error).message)})`);
      throw error;
    } finally {
      this.unanswered -= 1;
      this.silentSinceMs = this.settings.clock.monotonicMs();
    }
  }

  /** Why the session is over, by the clocks as they are now; null while it is not. */
  whyLost(): string | null {
    const { clock } = this.settings;
    if (!this.lost.aborted) {
      const silentMs = clock.monotonicMs() - this.answeredMs;
      if (silentMs > this.silenceLimitMs)
        this.lose(`PostgreSQL has not answered for ${Math.round(silentMs)} ms`);
      // The monotonic clock may have stood still; or the wall clock was set, which is no loss.
      else if (clock.wallMs() - this.answeredWallMs > this.silenceLimitMs && this.sleptThroughIt())
        this.lose("the machine slept for longer than PostgreSQL waits for an answer");
    }
    return this.lost.aborted ? String(this.lost.reason) : null;
  }

  /** From a holder's last answer until it knows by itself that its locks may be gone. */
  get silenceLimitMs(): number {
    return this.times.silenceLimitMs;
  }

  /** For how long the server lets nobody else have these locks, even if nothing more is heard of it or of us. */
  get aloneForMs(): number {
    return this.answeredMs + this.times.aloneAfterAnswerMs - this.settings.clock.monotonicMs();
  }

  onNotice(listener: (payload: string) => void): void {
    this.listeners.add(listener);
  }

  lose(reason: string): void {
    if (this.lost.aborted) return;
    this.stopTimers();
    this.losing.abort(reason);
    this.socket.destroy();
  }

  /** Closes the connection, or destroys it if the server does not answer in time. */
  async end(reason: string): Promise<void> {
    if (this.lost.aborted) return;
    this.stopTimers();
    const { clock, answerTimeoutMs } = this.settings;
    const cancel = clock.after(answerTimeoutMs, () => this.socket.destroy());
    this.losing.abort(reason);
    await this.client.end().catch(() => {});
    cancel();
    this.socket.destroy();
  }

  /**
   * Set once and not for each question: when it rings, the time is counted from the last answer, or from the first
   * question after it.
   */
  private limitSilence(fromMs: number): void {
    const { clock, answerTimeoutMs } = this.settings;
    const leftMs = fromMs + answerTimeoutMs - clock.monotonicMs();
    if (leftMs <= 0) return this.lose(`PostgreSQL has not answered within ${answerTimeoutMs} ms`);
    this.cancelSilenceLimit = clock.after(leftMs, () => {
      this.cancelSilenceLimit = undefined;
      if (this.unanswered > 0) this.limitSilence(this.silentSinceMs);
    });
  }

  /** What is asked with values is asked often: the server plans it once, under this name. A handful. */
  private prepared(text: string, values: readonly unknown[]): string | QueryConfig {
    if (values.length === 0) return text;
    const name = this.names.get(text) ?? `holdfast_lock_${this.names.size + 1}`;
    this.names.set(text, name);
    return { name, text, values: [...values] };
  }

  /** Every question is a sign of life as well; this one is asked so that there always is one. */
  private beat(): void {
    this.cancelHeartbeat = this.settings.clock.after(this.settings.heartbeatMs, () => {
      if (this.whyLost() !== null) return;
      this.ask("SELECT 1").then(
        () => {
          this.asleepMs = this.settings.clock.asleepMs?.() ?? 0;
          this.beat();
        },
        () => this.lose("PostgreSQL did not answer a heartbeat"),
      );
    });
  }

  private stopTimers(): void {
    this.cancelHeartbeat();
    this.cancelSilenceLimit?.();
  }

  private sleptThroughIt(): boolean {
    const { clock } = this.settings;
    return clock.asleepMs === undefined || clock.asleepMs() - this.asleepMs > this.silenceLimitMs;
  }

  private noteLife(): void {
    const { clock } = this.settings;
    this.answeredMs = clock.monotonicMs();
    this.answeredWallMs = clock.wallMs();
  }

  /** Rejects with the reason as soon as the session is lost, also where the driver has nothing more to say. */
  private unlessLost<T>(work: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const lost = (): void => reject(new Error(String(this.lost.reason)));
      if (this.lost.aborted) lost();
      this.lost.addEventListener("abort", lost, { once: true });
      work.then(resolve, reject).finally(() => this.lost.removeEventListener("abort", lost));
    });
  }
}

/** With five characters, and not one of those that say that the session is over (57P01 and its kin). */
function isFromServer(error: unknown): boolean {
  const code = (error as { readonly code?: unknown }).code;
  return typeof code === "string" && /^(?!57P0|08)[0-9A-Z]{5}$/.test(code) && !/^E[A-Z]{4}$/.test(code);
}
