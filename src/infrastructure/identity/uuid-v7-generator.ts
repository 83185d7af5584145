import { randomFillSync } from "node:crypto";
import type { Clock } from "../../application/ports/clock";
import type { IdGenerator } from "../../application/ports/id-generator";

const RANDOM_BYTES_AT_ONCE = 4096;
/** Ten random bytes follow the time: 12 bits that count within a millisecond, 62 that stay random. */
const BYTES_PER_ID = 10;
const COUNTER_LIMIT = 0xfff;

/**
 * RFC 9562, version 7, with a counter after the time: ids of one process ascend, also when many are made in one
 * millisecond or the clock goes back. Ids of two processes differ by 62 random bits or more.
 */
export class UuidV7Generator implements IdGenerator {
  private readonly random = Buffer.alloc(RANDOM_BYTES_AT_ONCE);
  private used = RANDOM_BYTES_AT_ONCE;
  private timeMs = 0;
  private counter = 0;

  /** `after`: an id of this kind that all of these are to come after, whatever the clock says. */
  constructor(
    private readonly clock: Clock,
    after?: string,
  ) {
    if (after === undefined) return;
    this.timeMs = Number.parseInt(after.slice(0, 8) + after.slice(9, 13), 16);
    this.counter = Number.parseInt(after.slice(15, 18), 16);
  }

  nextId(): string {
    if (this.used + BYTES_PER_ID > RANDOM_BYTES_AT_ONCE) {
      randomFillSync(this.random);
      this.used = 0;
    }
    const at = this.used;
    this.used += BYTES_PER_ID;
    this.advance(this.random.readUInt16BE(at) & (COUNTER_LIMIT >> 1));

    const time = this.timeMs.toString(16).padStart(12, "0");
    const counter = this.counter.toString(16).padStart(3, "0");
    const variant = (0x8000 | (this.random.readUInt16BE(at + 2) & 0x3fff)).toString(16);
    const rest = this.random.toString("hex", at + 4, at + BYTES_PER_ID);
    return `${time.slice(0, 8)}-${time.slice(8)}-7${counter}-${variant}-${rest}`;
  }

  /** In a new millisecond the counter begins at random in its lower half, so it has room to count. */
  private advance(start: number): void {
    const nowMs = this.clock.now().getTime();
    if (nowMs > this.timeMs) {
      this.timeMs = nowMs;
      this.counter = start;
    } else if (this.counter < COUNTER_LIMIT) {
      this.counter += 1;
    } else {
      // The millisecond is full, or the clock stands still: run ahead of it.
      this.timeMs += 1;
      this.counter = start;
    }
  }
}
