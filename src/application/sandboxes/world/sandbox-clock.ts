import type { Clock } from "../../ports/clock";

/** A clock that stands still until somebody moves it, and never goes back. */
export class SandboxClock implements Clock {
  constructor(private at: Date) {}

  now(): Date {
    return new Date(this.at);
  }

  /** An instant that has passed is no reason to go back. */
  forwardTo(instant: Date): void {
    if (instant > this.at) this.at = new Date(instant);
  }
}
