import type { LockClock } from "../lock-clock";
import type { Bid } from "./bid";

/** However often a backend cries wolf, it is asked no more often than this. */
const BETWEEN_WAKES_MS = 10;

/** A sleep that a release cuts short, also a release that was heard of before the sleep began. */
export class WakeUp {
  private stop: (() => void) | undefined;
  private isCalled = false;
  private lastWokenMs = -Infinity;
  private onCall: (() => void) | undefined;

  constructor(private readonly clock: LockClock) {}

  listenTo(bid: Bid): void {
    this.stop ??= bid.onReleased(() => {
      this.isCalled = true;
      this.onCall?.();
    });
  }

  stopListening(): void {
    this.stop?.();
  }

  /** `delayMs` may be Infinity. Returns how to break off. */
  sleep(delayMs: number, done: (why: "slept" | "woken") => void): () => void {
    let cancelTimer = Number.isFinite(delayMs) ? this.clock.after(delayMs, () => end("slept")) : undefined;
    const clear = (): void => {
      cancelTimer?.();
      this.onCall = undefined;
    };
    const end = (why: "slept" | "woken"): void => {
      clear();
      this.isCalled = false;
      if (why === "woken") this.lastWokenMs = this.clock.monotonicMs();
      done(why);
    };
    this.onCall = () => {
      clear();
      const pauseMs = Math.max(0, this.lastWokenMs + BETWEEN_WAKES_MS - this.clock.monotonicMs());
      if (pauseMs === 0) end("woken");
      else cancelTimer = this.clock.after(pauseMs, () => end("woken"));
    };
    if (this.isCalled) this.onCall();
    return clear;
  }
}
