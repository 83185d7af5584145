import type { Server, ServerResponse } from "node:http";
import type { Logger } from "pino";
import type { Lifecycle } from "./lifecycle";

/** Calls back once after the delay, unless it is cancelled by what this returns. */
export interface Timers {
  after(delayMs: number, callback: () => void): () => void;
}

/** Something to let go of on the way out, in the order given. */
export interface Closer {
  readonly name: string;
  close(): Promise<void> | void;
}

export interface GracefulShutdownParts {
  readonly server: Server;
  readonly lifecycle: Lifecycle;
  readonly closers: readonly Closer[];
  readonly logger: Logger;
  readonly exit: (status: number) => void;
  readonly timers?: Timers;
  /** Between saying so at `/readyz` and closing the door: balancers need that long to notice. */
  readonly announceMs?: number;
  /** For requests under way. Longer than the longest hold of a lock. */
  readonly drainMs?: number;
}

const systemTimers: Timers = {
  after: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

const SIGNAL_STATUS = { SIGINT: 130, SIGTERM: 143 } as const;
export type EndingSignal = keyof typeof SIGNAL_STATUS;

/**
 * Says that it goes, closes the door, lets those inside finish, lets go of everything, exits with 0. A second signal
 * ends it where it stands: what was begun is in the store, and the next run finishes it.
 */
export class GracefulShutdown {
  private begun = false;
  private underWay = 0;
  private onAllAnswered: (() => void) | undefined;
  private readonly timers: Timers;
  private readonly announceMs: number;
  private readonly drainMs: number;

  constructor(private readonly parts: GracefulShutdownParts) {
    this.timers = parts.timers ?? systemTimers;
    this.announceMs = parts.announceMs ?? 2_000;
    this.drainMs = parts.drainMs ?? 25_000;
    parts.server.prependListener("request", (_request: unknown, response: ServerResponse) => {
      this.underWay += 1;
      response.once("close", () => this.answered());
    });
  }

  /** Hand every SIGINT and SIGTERM to this. */
  async onSignal(signal: EndingSignal): Promise<void> {
    const { lifecycle, server, logger, exit } = this.parts;
    if (this.begun) {
      logger.warn({ signal }, "second signal: ending at once");
      exit(SIGNAL_STATUS[signal]);
      return;
    }
    this.begun = true;
    logger.info({ signal }, "shutting down");
    lifecycle.leave();
    await new Promise<void>((resolve) => this.timers.after(this.announceMs, resolve));

    lifecycle.drain();
    server.close();
    server.closeIdleConnections();
    if (!(await this.allAnswered())) {
      logger.warn({ underWay: this.underWay }, "requests are still under way: what they began stays due");
    }
    for (const closer of this.parts.closers) await this.close(closer);
    server.closeAllConnections();
    logger.info("shut down");
    exit(0);
  }

  private answered(): void {
    this.underWay -= 1;
    if (!this.parts.lifecycle.isDraining) return;
    this.parts.server.closeIdleConnections();
    if (this.underWay === 0) this.onAllAnswered?.();
  }

  private async allAnswered(): Promise<boolean> {
    if (this.underWay === 0) return true;
    return new Promise((resolve) => {
      const giveUp = this.timers.after(this.drainMs, () => resolve(false));
      this.onAllAnswered = () => {
        giveUp();
        resolve(true);
      };
    });
  }

  private async close(closer: Closer): Promise<void> {
    try {
      await closer.close();
    } catch (error) {
      this.parts.logger.error({ err: error, closer: closer.name }, "could not be closed");
    }
  }
}
