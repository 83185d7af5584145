import type { LockEvent, LockObserver } from "../../../application/ports/lock-observer";
import type { AnsweredRequest, RequestObserver } from "../../http/server/access-log";

const MINUTE_MS = 60_000;
const MINUTES = 60;
/** Upper ends of classes of durations; what took longer is in the last one. */
const CLASSES_MS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 30_000];
/** Routes that move money: the API's, and the console's own. */
const MOVES = /^(?:\/console)?\/payments(?:$|\/:paymentId\/(?:capture|void|refunds?)$)|^\/captures$/;
const CAPTURES = /\/capture$/;

interface Minute {
  /** Since 1970. */
  readonly minute: number;
  captures: number;
  refusals: number;
  lostLocks: number;
  readonly took: number[];
}

/** One minute, as it is shown. */
export interface ShownMinute {
  readonly captures: number;
  /** Null where nothing was asked for. */
  readonly p99Ms: number | null;
  readonly refusals: number;
}

/** What this instance has seen in the last hour, in some kilobytes, whatever the traffic. Other instances have their own. */
export class RecentHour implements RequestObserver, LockObserver {
  private readonly minutes: Minute[] = [];

  constructor(private readonly nowMs: () => number = () => Date.now()) {}

  answered({ method, route, status, seconds, results }: AnsweredRequest): void {
    if (method !== "POST" || !MOVES.test(route)) return;
    const minute = this.current();
    const each = results ?? { [status]: 1 };
    const isCapture = CAPTURES.test(route) || route === "/captures";
    for (const [code, count] of Object.entries(each)) {
      // The console answers what has moved with the way to its page.
      if (isCapture && (code === "201" || code === "303")) minute.captures += count;
      if (Number(code) >= 400) minute.refusals += count;
    }
    const at = CLASSES_MS.findIndex((endMs) => seconds * 1_000 <= endMs);
    const index = at === -1 ? CLASSES_MS.length - 1 : at;
    minute.took[index] = (minute.took[index] ?? 0) + 1;
  }

  notify({ type }: LockEvent): void {
    if (type === "lost") this.current().lostLocks += 1;
  }

  get lostLocks(): number {
    return this.within().reduce((sum, { lostLocks }) => sum + lostLocks, 0);
  }

  /** Of the whole hour. */
  get p99Ms(): number | null {
    const all = CLASSES_MS.map((_, index) =>
      this.within().reduce((sum, { took }) => sum + (took[index] ?? 0), 0),
    );
    return p99Of(all);
  }

  /** Sixty of them, the oldest first. */
  shown(): readonly ShownMinute[] {
    const last = this.minute();
    const byMinute = new Map(this.within().map((one) => [one.minute, one]));
    return Array.from({ length: MINUTES }, (_, index) => {
      const one = byMinute.get(last - MINUTES + 1 + index);
      return {
        captures: one?.captures ?? 0,
        p99Ms: one === undefined ? null : p99Of(one.took),
        refusals: one?.refusals ?? 0,
      };
    });
  }

  private minute(): number {
    return Math.floor(this.nowMs() / MINUTE_MS);
  }

  private within(): readonly Minute[] {
    const last = this.minute();
    return this.minutes.filter(({ minute }) => minute > last - MINUTES && minute <= last);
  }

  private current(): Minute {
    const minute = this.minute();
    const newest = this.minutes.at(-1);
    if (newest?.minute === minute) return newest;
    const begun: Minute = { minute, captures: 0, refusals: 0, lostLocks: 0, took: [] };
    this.minutes.push(begun);
    if (this.minutes.length > MINUTES) this.minutes.shift();
    return begun;
  }
}

/** The upper end of the class in which it is. */
function p99Of(took: readonly (number | undefined)[]): number | null {
  const total = took.reduce<number>((sum, count) => sum + (count ?? 0), 0);
  if (total === 0) return null;
  let seen = 0;
  for (const [index, endMs] of CLASSES_MS.entries()) {
    seen += took[index] ?? 0;
    if (seen >= total * 0.99) return endMs;
  }
  return CLASSES_MS.at(-1) ?? null;
}
