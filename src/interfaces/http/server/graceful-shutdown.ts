import type { Server } from "node:http";
import type { Logger } from "pino";
import type { Lifecycle } from "./lifecycle";
import { SlowCallers } from "./slow-callers";

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
  /** For a caller who does not send the rest of a request, or does not read the answer. Nothing here waits for those. */
  readonly slowCallerMs?: number;
  /** For those requests and everything that is let go of, together. */
  readonly endMs?: number;
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
 * Says that it goes, closes the door, lets those inside finish, lets go of everything, exits with 0. What does not let go
 * in time is left behind. A second signal ends it where it stands: what was begun is in the store, and the next run finishes it.
 */
export class GracefulShutdown {
  private begun = false;
  private readonly callers: SlowCallers;
  private onAllAnswered: (() => void) | undefined;
  private readonly timers: Timers;
  private readonly announceMs: number;
  private readonly drainMs: number;
  private readonly slowCallerMs: number;
  private readonly endMs: number;

  constructor(private readonly parts: GracefulShutdownParts) {
    this.timers = parts.timers ?? systemTimers;
    this.announceMs = parts.announceMs ?? 2_000;
    this.drainMs = parts.drainMs ?? 25_000;
    this.slowCallerMs = parts.slowCallerMs ?? 5_000;
    this.endMs = parts.endMs ?? 28_000;
    this.callers = new SlowCallers(parts.server, () => this.answered());
  }

  /** Hand every SIGINT and SIGTERM to this. */
  async onSignal(signal: EndingSignal): Promise<void> {
    const { lifecycle, server, logger, exit } = this.parts;
    if (this.begun) {
      logger.warn({ signal }, "second signal received: exiting at once");
      exit(SIGNAL_STATUS[signal]);
      return;
    }
    this.begun = true;
    logger.info({ signal }, "shutting down");
    lifecycle.leave();
    await new Promise<void>((resolve) => this.timers.after(this.announceMs, resolve));

    let cancel = (): void => {};
    const outOfTime = new Promise<void>((resolve) => {
      cancel = this.timers.after(this.endMs, () => {
        logger.warn("shutdown deadline reached: what is not closed yet is left open");
        resolve();
      });
    });
    lifecycle.drain();
    server.close();
    server.closeIdleConnections();
    if (!(await this.allAnswered())) {
      logger.warn(
        { underWay: this.callers.count },
        "requests are still running: the reconciler will finish what they began",
      );
    }
    for (const closer of this.parts.closers) await Promise.race([this.close(closer), outOfTime]);
    cancel();
    server.closeAllConnections();
    logger.info("shut down");
    exit(0);
  }

  private answered(): void {
    if (!this.parts.lifecycle.isDraining) return;
    this.parts.server.closeIdleConnections();
    if (this.callers.count === 0) this.onAllAnswered?.();
  }

  private async allAnswered(): Promise<boolean> {
    if (this.callers.count === 0) return true;
    const stopCutting = this.keepCutting();
    return new Promise<boolean>((resolve) => {
      const giveUp = this.timers.after(this.drainMs, () => resolve(false));
      this.onAllAnswered = () => {
        giveUp();
        resolve(true);
      };
    }).finally(() => stopCutting());
  }

  private keepCutting(): () => void {
    let stop = () => {};
    const cut = (): void => {
      this.callers.cut();
      stop = this.timers.after(this.slowCallerMs, cut);
    };
    cut();
    return () => stop();
  }

  private async close(closer: Closer): Promise<void> {
    try {
      await closer.close();
    } catch (error) {
      this.parts.logger.error({ err: error, closer: closer.name }, "failed to close");
    }
  }
}
