import { LockPermitsError } from "../../../application/ports/lock-errors";
import type { LockHolder } from "../../../application/ports/lock-provider";
import type { Hold } from "../hold/lend";
import { Bid } from "../line/bid";
import { Line } from "../line/line";
import { Lines } from "../line/lines";
import type { Wait } from "../line/wait";
import type { Attempt, LockBackend } from "../lock-backend";

/**
 * The callers of this process who want a slot of one semaphore. Who is in front asks for one and makes room for the next
 * as soon as it has it: they are served in the order in which they came, and one of them asks at a time.
 */
export class SlotLine extends Line {
  readonly bid: Bid;
  /** Who is inside, or has a slot that is being given back. */
  readonly inside = new Set<Hold>();
  /** How many of them are leaving. */
  leaving = 0;
  /** Behind a caller who does not know yet whether there is a slot for it; they wait for that and no longer. */
  readonly hurried = new Set<Wait>();
  private isRefused = false;
  private whenDecided: (() => void)[] = [];

  constructor(
    resourceId: string,
    readonly permits: number,
    slots: LockBackend,
  ) {
    super(resourceId);
    this.bid = new Bid(slots, resourceId);
  }

  override get isUsed(): boolean {
    return super.isUsed || this.inside.size > 0;
  }

  /** A newcomer would not get in. */
  get isFull(): boolean {
    return this.isRefused || this.inside.size - this.leaving >= this.permits;
  }

  /** No caller is inside or wants to get in: there are only releases under way, or a question whose caller gave up. */
  get isBeingLeft(): boolean {
    const isWanted = this.isTaken && !(this.isReleasing && this.tickets.isEmpty);
    return this.isUsed && !isWanted && this.inside.size === this.leaving;
  }

  left(hold: Hold): void {
    this.leaving -= 1;
    this.inside.delete(hold);
  }

  /** Resolves when the line rests, or when it turns out that it will not. */
  notBeingLeft(): Promise<void> {
    return new Promise((resolve) => this.whenDecided.push(resolve));
  }

  decided(): void {
    for (const callback of this.whenDecided) callback();
    this.whenDecided = [];
  }

  override refused(answer: Exclude<Attempt, { kind: "acquired" }>, nowMs: number): void {
    super.refused(answer, nowMs);
    this.isRefused = true;
    for (const wait of this.hurried) wait.giveUp(wait.outOfTime(true));
  }

  override whoIsInside(): LockHolder | undefined {
    const [first] = this.inside;
    return first?.describe() ?? super.whoIsInside();
  }

  override wasContendedSince(startedMs: number): boolean {
    return this.inside.size > 0 || super.wasContendedSince(startedMs);
  }

  override handOn(): boolean {
    this.isRefused = false;
    return super.handOn();
  }
}

/** The lines of all semaphores. */
export class SlotLines extends Lines<SlotLine> {
  /** A line that is in use says how many permits there are, at least in this process. */
  override of(resourceId: string, permits: number): SlotLine {
    const line = super.of(resourceId, permits);
    if (line.permits === permits) return line;
    throw new LockPermitsError(resourceId, permits, line.permits, line.whoIsInside());
  }

  /** What to wait for before `of`: a number of permits is forgotten when the last of those who use it has left. */
  lastOfOthers(resourceId: string, permits: number): Promise<void> | undefined {
    const line = this.byId.get(resourceId);
    return line === undefined || line.permits === permits || !line.isBeingLeft
      ? undefined
      : line.notBeingLeft();
  }

  override reachFront(line: SlotLine, wait: Wait): Promise<unknown> {
    line.decided();
    if (!line.isTaken || !wait.isSingleAttempt || line.isFull) return super.reachFront(line, wait);
    wait.begin(line);
    line.hurried.add(wait);
    return wait.queueIn(line.tickets).finally(() => line.hurried.delete(wait));
  }

  /** Makes room for the next in line. */
  entered(line: SlotLine, hold: Hold): void {
    line.inside.add(hold);
    this.leaveFront(line);
  }

  left(line: SlotLine, hold: Hold): void {
    line.left(hold);
    if (!line.isUsed) this.rest(line);
  }

  protected override rest(line: SlotLine): void {
    super.rest(line);
    line.decided();
  }
}
