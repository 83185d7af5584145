import { Socket } from "node:net";
import { hostname } from "node:os";
import { connectionConfig } from "../../persistence/postgres-connection";
import { loadPostgres, type Client, type QueryConfig } from "../../persistence/postgres-driver";
import type { LockClock } from "../lock-clock";

export interface SessionSettings {
  readonly url: string;
  readonly clock: LockClock;
  /** The server is asked for a sign of life this often. */
  readonly heartbeatMs: number;
  /** A request that is unanswered for this long ends the session, and every lock with it. */
  readonly answerTimeoutMs: number;
  /** Run once, when the session begins. */
  readonly prepare: (session: PostgresSession) => Promise<void>;
}

/**
 * What the server is told about the other end: after 11 s of silence it ends the session, and frees its locks. By then
 * this end has given them up (heartbeat and answer together, 7 s), also if neither hears of the other any more.
 * What this server does not know is left out.
 */
const SERVER_SETTINGS = `
  SELECT set_config(name, wanted.value, false)
  FROM (VALUES ('tcp_keepalives_idle', '5'), ('tcp_keepalives_interval', '2'), ('tcp_keepalives_count', '3'),
    ('tcp_user_timeout', '11000'), ('idle_session_timeout', '0'), ('statement_timeout', '3000'),
    ('synchronous_commit', 'on')) AS wanted (name, value)
  JOIN pg_settings USING (name)`;

/**
 * A connection that is one session on the server, or no connection at all. Questions are sent as they come and answered
 * in that order, each in a transaction of its own: a release does not keep the next attempt waiting for its answer.
 */
export class PostgresSession {
  private readonly losing = new AbortController();
  readonly lost: AbortSignal = this.losing.signal;
  private readonly socket = new Socket();
  private readonly client: Client;
  /** The last answer came to a question that was asked then, by both clocks. */
  private askedMs = 0;
  private askedWallMs = 0;
  private unanswered = 0;
  /** The first question after the last answer was asked then, or the last answer came then. */
  private silentSinceMs = 0;
  private cancelSilenceLimit: (() => void) | undefined;
  private cancelHeartbeat: () => void = () => {};
  private readonly names = new Map<string, string>();
  private readonly listeners = new Set<(payload: string) => void>();

  private constructor(private readonly settings: SessionSettings) {
    const { Client } = loadPostgres();
    this.client = new Client({
      ...connectionConfig(settings.url, `holdfast locks ${hostname()}:${process.pid}`),
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

  static async open(settings: SessionSettings): Promise<PostgresSession> {
    const session = new PostgresSession(settings);
    try {
      await session.client.connect();
      session.noteLife(session.now());
      await session.ask(SERVER_SETTINGS);
      await settings.prepare(session);
      session.beat();
      return session;
    } catch (error) {
      session.lose("it could not be opened");
      throw error;
    }
  }

  /** Rejects with the driver's error; if the session was lost over it, `lost` has fired by then. */
  async ask<Row>(text: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    const reason = this.whyLost();
    if (reason !== null) throw new Error(reason);
    const asked = this.now();
    if (this.unanswered === 0) this.silentSinceMs = asked.ms;
    this.unanswered += 1;
    if (this.cancelSilenceLimit === undefined) this.limitSilence(this.silentSinceMs);
    try {
      const { rows } = await this.client.query(this.prepared(text, values));
      this.noteLife(asked);
      return rows as Row[];
    } catch (error) {
      // An answer that is an error is an answer.
      if (!this.lost.aborted && isFromServer(error)) this.noteLife(asked);
      else this.lose(`the connection to PostgreSQL failed (${String((error as Error).message)})`);
      throw error;
    } finally {
      this.unanswered -= 1;
      this.silentSinceMs = this.settings.clock.monotonicMs();
    }
  }

  /** Why the session is over, by the clocks as they are now; null while it is not. */
  whyLost(): string | null {
    const { heartbeatMs, answerTimeoutMs } = this.settings;
    const { ms, wallMs } = this.now();
    // The monotonic clock may have stood still while the machine slept, and the wall clock may have been set.
    const silentMs = Math.max(ms - this.askedMs, wallMs - this.askedWallMs);
    if (!this.lost.aborted && silentMs > heartbeatMs + answerTimeoutMs)
      this.lose(`PostgreSQL has not answered for ${Math.round(silentMs)} ms`);
    return this.lost.aborted ? String(this.lost.reason) : null;
  }

  /** The number that the proxy or the server said it has. A proxy makes up its own. */
  get announcedPid(): number | null {
    return (this.client as Client & { readonly processID: number | null }).processID;
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

  /** Ends it as one should. */
  async end(reason: string): Promise<void> {
    if (this.lost.aborted) return;
    this.stopTimers();
    const { clock, answerTimeoutMs } = this.settings;
    const cancel = clock.after(answerTimeoutMs, () => this.lose(reason));
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
        () => this.beat(),
        () => this.lose("PostgreSQL did not answer a heartbeat"),
      );
    });
  }

  private stopTimers(): void {
    this.cancelHeartbeat();
    this.cancelSilenceLimit?.();
  }

  private noteLife({ ms, wallMs }: { readonly ms: number; readonly wallMs: number }): void {
    this.askedMs = ms;
    this.askedWallMs = wallMs;
  }

  private now(): { readonly ms: number; readonly wallMs: number } {
    const { clock } = this.settings;
    return { ms: clock.monotonicMs(), wallMs: clock.wallMs() };
  }
}

/** With five characters, and not one of those that say that the session is over (57P01 and its kin). */
function isFromServer(error: unknown): boolean {
  const code = (error as { readonly code?: unknown }).code;
  return typeof code === "string" && /^(?!57P0|08)[0-9A-Z]{5}$/.test(code) && !/^E[A-Z]{4}$/.test(code);
}
