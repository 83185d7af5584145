import type { Clock } from "../../application/ports/clock";

/** The machine's wall clock, with its jumps. */
export class SystemClock implements Clock {
  now(): Date {
    return new Date();
  }
}
