import { LockPermitsError } from "../../../application/ports/lock-errors";
import type { LockHolder } from "../../../application/ports/lock-provider";
import type { Hold } from "../hold/lend";
import { Line } from "../line/line";
import { Lines } from "../line/lines";

/** How many lines may wait for the clock. They are as many only if it was set back, or is far too slow. */
const MOST_RESTING = 10_000;

/** A line that numbers those who were in front, each with more than the one before. Of a semaphore, several are in front. */
class FencedLine extends Line {
  /** Of a semaphore: who has which slot. */
  private readonly slots: (Hold | undefined)[] = [];
  /** It has no user, and waits for the clock to pass its token. */
  isResting = false;

  constructor(
    resourceId: string,
    readonly permits: number,
    public token = 0,
  ) {
    // Nothing is left to take once in front: whoever stands behind has met contention.
    super(resourceId, Infinity, permits);
  }

  /** For a caller who is in front: then there is one. */
  get freeSlot(): number {
    const index = this.slots.findIndex((hold) => hold === undefined);
    return 1 + (index === -1 ? this.slots.length : index);
  }

  occupy(slot: number, hold: Hold): void {
    this.slots[slot - 1] = hold;
  }

  vacate(slot: number): void {
    this.slots[slot - 1] = undefined;
  }

  override whoIsInside(): LockHolder | undefined {
    return super.whoIsInside() ?? this.slots.find((hold) => hold !== undefined)?.describe();
  }
}

/**
 * Lines that give out fencing tokens: `max(previous, now in ms) + 1` for each id alone, because a count over all ids
 * outruns the clock and falls back behind itself at a restart. A line is remembered until the clock has passed its last
 * token, which is the next millisecond; from then on the clock alone makes the next token greater. The last thousand are
 * remembered for longer, because they may be wanted again. What a restart can still fall behind is an id that was locked
 * more than a thousand times a second.
 */
export class FencedLines extends Lines<FencedLine> {
  private resting: FencedLine[] = [];
  private nowMs = 0;
  /** So many are not worth looking through each millisecond: an id that is wanted again soon finds its line made. */
  private readonly fewResting = 1_000;

  constructor() {
    super((resourceId, permits) => new FencedLine(resourceId, permits));
  }

  /** A line that nobody uses counts as many permits as its next caller. */
  override of(resourceId: string, permits = 1): FencedLine {
    const line = super.of(resourceId, permits);
    if (line.permits === permits) return line;
    if (line.isUsed) throw new LockPermitsError(resourceId, permits, line.permits, line.whoIsInside());
    this.resting = this.resting.filter((other) => other !== line);
    const next = new FencedLine(resourceId, permits, line.token);
    this.byId.set(resourceId, next);
    return next;
  }

  /** For whoever is in front. */
  nextToken(line: FencedLine, wallMs: number): number {
    const nowMs = Math.trunc(wallMs);
    if (nowMs > this.nowMs) {
      if (this.resting.length > this.fewResting) this.advance(nowMs);
      else this.nowMs = nowMs;
    }
    // The clock counts only forwards here: set back, it must not take tokens back that were given out.
    return (line.token = Math.max(line.token, this.nowMs) + 1);
  }

  protected override rest(line: FencedLine): void {
    if (line.isResting) return;
    line.isResting = true;
    this.resting.push(line);
    if (this.resting.length > MOST_RESTING)
      this.advance(this.resting.reduce((highest, { token }) => Math.max(highest, token), this.nowMs));
  }

  /** Looks at each line that rested since the last millisecond: not more than there were locks in it. */
  private advance(nowMs: number): void {
    this.nowMs = nowMs;
    this.resting = this.resting.filter((line) => {
      if (!line.isUsed && line.token > nowMs) return true;
      line.isResting = false;
      if (!line.isUsed) super.rest(line);
      return false;
    });
  }
}
