import { AsyncResource } from "node:async_hooks";
import {
  LockCancelledError,
  LockPermitsError,
  LockTimeoutError,
  LockUnavailableError,
  type EndedWait,
  type LockError,
} from "../../../application/ports/lock-errors";
import type { LockHappening } from "../../../application/ports/lock-observer";
import type { LockHolder, LockOptions } from "../../../application/ports/lock-provider";
import type { ResolvedLockTimeout } from "../../../application/ports/lock-timeout";
import { announce, isObserved, wordsOf, type Observed } from "../hold/announce";
import { onAbort } from "./cancellation";
import type { DeadlineList, Due } from "./deadlines";
import type { LockSettings } from "../lock-settings";
import { isPermanent } from "./bid";
import type { Line } from "./line";
import type { Ticket, TicketQueue } from "./ticket-queue";
import { limitOf } from "./wait-limit";

/** How often progress is reported: after a fifth of the time waited so far, within these bounds. */
const PROGRESS_MS = { least: 1000, most: 5000 };
/** What a single attempt is given: time for one request, whatever release or attempt of ours is in its way. */
const SINGLE_ATTEMPT_MS = 2000;
const NOT_IN_LINE = (): void => {};

/** Something may end the wait or wants to hear of it, so that even an uncontended lock needs a `Wait`. */
export function isFollowed(options: LockOptions, settings: LockSettings): boolean {
  return options.signal !== undefined || options.timeout !== undefined || isObserved({ options, settings });
}

/** One caller's wait: its budget, its cancellation, what it tells its observers, and the error it ends with. */
export class Wait implements Observed, Due {
  /** Who was inside when the wait began. */
  waitedFor: LockHolder | undefined;
  private resolvedLimit: ResolvedLockTimeout | undefined;
  /** On the monotonic clock. An uncontended lock is not worth a look at it. */
  private startedMs = 0;
  deadlineMs = Infinity;
  private line: Line | undefined;
  private hasBegun = false;
  private verdict: LockError | undefined;
  private deliver: ((verdict: LockError) => void) | undefined;
  /** Settles what `queueIn` returned, as soon as the given turn does. */
  admit: (turn: Promise<unknown>) => void = NOT_IN_LINE;
  /** What the caller's own async context is for its observers: timers and cancellations are shared with others. */
  private context: AsyncResource | undefined;
  private deadlines: DeadlineList | undefined;
  private deadline: Ticket<Due> | undefined;
  private stopListening: (() => void) | undefined;
  private stopProgress: (() => void) | undefined;
  private progressToldMs = 0;

  constructor(
    readonly resourceId: string,
    readonly options: LockOptions,
    readonly settings: LockSettings,
  ) {
    if (options.timeout !== undefined) this.resolvedLimit = limitOf(options.timeout);
  }

  /** Decided late: an uncontended lock has no use for a limit. */
  get limit(): ResolvedLockTimeout {
    return (this.resolvedLimit ??= limitOf(this.settings.timeouts(this.options.scope)));
  }

  /** Timeout 0, or nothing left of the budget that `withLocks` shares among its ids. */
  get isSingleAttempt(): boolean {
    return this.budgetMs <= 0;
  }

  get remainingMs(): number {
    return this.deadlineMs - this.settings.clock.monotonicMs();
  }

  /** In whole milliseconds. */
  get waitedMs(): number {
    return Math.round(this.elapsedMs);
  }

  get elapsedMs(): number {
    return this.line === undefined ? 0 : this.settings.clock.monotonicMs() - this.startedMs;
  }

  get wasContended(): boolean {
    return this.hasBegun;
  }

  /** Starts the clock and listens for cancellation. */
  arm(line: Line): void {
    if (this.line !== undefined || this.verdict !== undefined) return;
    this.line = line;
    if (isObserved(this)) this.context = new AsyncResource("HoldfastLockWait");
    const { clock, deadlines } = this.settings;
    const limitMs = this.isSingleAttempt ? SINGLE_ATTEMPT_MS : this.budgetMs;
    this.startedMs = clock.monotonicMs();
    if (limitMs !== Infinity) {
      this.deadlineMs = this.startedMs + limitMs;
      this.deadlines = deadlines.within(limitMs);
      this.deadline = this.deadlines.add(this);
    }
    if (this.options.signal !== undefined)
      this.stopListening = onAbort(this.options.signal, () => this.giveUp(this.cancelled()));
  }

  reachDeadline(): void {
    this.giveUp(this.outOfTime());
  }

  /** Somebody else is in the way: from here on the observers hear of the wait. */
  begin(line: Line): void {
    if (this.hasBegun) return;
    this.hasBegun = true;
    this.arm(line);
    this.waitedFor = line.whoIsInside();
    this.announce({ type: "wait_started" });
    // An observer may have cancelled the wait just now; nothing may be armed after that.
    if (isObserved(this) && !this.hasVerdict()) this.announceProgress();
  }

  /** Progress is reported along with an attempt where possible, which saves a timer. */
  retry(attempt: number): void {
    this.announce({ type: "retried", attempt });
    const isDue = this.elapsedMs - this.progressToldMs >= PROGRESS_MS.least;
    if (this.stopProgress !== undefined && isDue) this.progressed();
  }

  /** Settles as `start` says, or rejects as soon as the wait is given up, after undoing what `start` did. */
  orGivenUp<T>(start: (resolve: (value: T | PromiseLike<T>) => void) => () => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const undo = start((value) => {
        this.deliver = undefined;
        resolve(value);
      });
      this.deliver = (verdict) => {
        this.deliver = undefined;
        undo();
        reject(verdict);
      };
      if (this.verdict !== undefined) this.deliver(this.verdict);
    });
  }

  /**
   * Resolves when whoever takes this wait from the queue calls `admit`; rejects, and leaves the queue, when it is given
   * up before that. Ten thousand may stand there at once, so it makes nothing that it can do without.
   */
  queueIn(queue: TicketQueue<Wait>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const ticket = queue.push(this);
      this.admit = resolve;
      this.deliver = (verdict) => {
        queue.remove(ticket);
        reject(verdict);
      };
      if (this.verdict !== undefined) this.deliver(this.verdict);
    });
  }

  /** Ends the wait with this error, whatever it is doing. The first verdict counts. */
  giveUp(verdict: LockError): void {
    if (this.verdict !== undefined) return;
    this.verdict = verdict;
    this.disarm();
    const announceEnd = (): void => this.announce(endedBy(verdict));
    if (this.context === undefined) announceEnd();
    else this.context.runInAsyncScope(announceEnd);
    this.deliver?.(verdict);
  }

  /** Throws the verdict, if there is one. Needed after each await: a signal may have fired meanwhile. */
  check(): void {
    if (this.options.signal?.aborted === true) this.giveUp(this.cancelled());
    if (this.verdict !== undefined) throw this.verdict;
  }

  /** The lock is ours, and the section is about to begin: nothing may end the wait any more. */
  succeed(): void {
    this.check();
    this.disarm();
  }

  /**
   * Contention was seen: a timeout. Never seen: the backend did not answer. Who is refused because one of ours is in
   * front (`isBehind`) has met contention even if that one has no answer yet.
   */
  outOfTime(isBehind = false): LockError {
    const { line } = this;
    const { waitedMs } = this.soFar;
    const isInTheWay = isBehind && line?.failure === undefined;
    if (line === undefined || isInTheWay || line.wasContendedSince(this.startedMs))
      return new LockTimeoutError(
        this.resourceId,
        waitedMs,
        this.limit,
        line?.whoIsInside(),
        line?.advice,
        this.options.scope,
      );
    return this.unavailable(line.failure ?? new Error(`no answer from ${this.settings.adapter}`));
  }

  /** What the backend failed with, told to this caller: others in line may be told the same of waits of their own. */
  unavailable(failure: unknown): LockUnavailableError {
    return new LockUnavailableError(this.resourceId, wordsOf(failure), {
      cause: failure,
      permanent: isPermanent(failure),
      wait: this.soFar,
    });
  }

  /** For the error that ends it. */
  get soFar(): EndedWait {
    const { scope, alongside } = this.options;
    const waitedMs = this.waitedMs + (alongside?.waitedMs ?? 0);
    return { waitedMs, limit: this.limit, ...(scope === undefined ? {} : { scope }) };
  }

  announce(happening: LockHappening): void {
    if (!isObserved(this)) return;
    announce(this, happening, {
      elapsedMs: this.elapsedMs,
      remainingMs: this.deadlineMs === Infinity ? undefined : Math.max(0, this.remainingMs),
      holder: this.line?.whoIsInside(),
      failure: this.line?.failure,
    });
  }

  private get budgetMs(): number {
    const { timeout } = this.limit;
    return timeout === "infinite" ? Infinity : timeout - (this.options.alongside?.waitedMs ?? 0);
  }

  private hasVerdict(): boolean {
    return this.verdict !== undefined;
  }

  private announceProgress(): void {
    const { least, most } = PROGRESS_MS;
    this.progressToldMs = this.elapsedMs;
    const pauseMs = Math.min(Math.max(this.elapsedMs / 5, least), most);
    this.stopProgress = this.settings.clock.after(pauseMs, () => this.progressed());
  }

  private progressed(): void {
    this.stopProgress?.();
    this.announceProgress();
    this.announce({ type: "progressed" });
  }

  private cancelled(): LockError {
    // A reason in words names what cancelled it; an error, which is what most signals have, says nothing of that.
    const reason: unknown = this.options.signal?.reason;
    const by = typeof reason === "string" ? reason : undefined;
    return new LockCancelledError(this.resourceId, this.waitedMs, this.soFar, by);
  }

  private disarm(): void {
    if (this.deadline !== undefined) this.deadlines?.remove(this.deadline);
    this.stopListening?.();
    this.stopProgress?.();
    this.deadline = this.stopListening = this.stopProgress = undefined;
  }
}

function endedBy(verdict: LockError): LockHappening {
  if (verdict instanceof LockCancelledError) return { type: "cancelled" };
  if (verdict instanceof LockUnavailableError || verdict instanceof LockPermitsError)
    return { type: "unavailable", reason: verdict.message };
  return { type: "timed_out" };
}
