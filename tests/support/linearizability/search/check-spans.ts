import { Configurations, type Configuration } from "./configurations";
import type { Model, Span, Verdict } from "./span";

/** A history of one object that needs more has too many calls at a time for this search. */
const MOST_CONFIGURATIONS = 20_000;
/** So many looks ahead, and the last one, an explanation is given up that cannot come to where they fit. */
const LOOKS_AHEAD = 8;

/**
 * Whether each span can have taken effect at one moment of its own, so that the object behaved as its model (Wing and Gong's
 * question). The history is read once, by time, as Lowe does it: with each end, every explanation of what came before is
 * carried on until what ends has taken effect. Explanations with the same state that have the same spans behind them are
 * one (the memory), and a span that only looks takes effect as soon as it can, because nothing is lost by that.
 */
export function checkSpans<State, Call>(
  model: Model<State, Call>,
  spans: readonly Span<Call>[],
): Verdict<State, Call> {
  const search = new Search(model, spans);
  let explained = 0;
  for (const { span, isEnd } of byTime(spans)) {
    if (!isEnd) {
      search.begin(span);
      continue;
    }
    if (!search.end(span)) return { isGood: false, unexplained: span, explained, states: search.states() };
    if (span.required) explained += 1;
  }
  return { isGood: true };
}

/** Of two at the same time, a begin comes first: they may have overlapped. */
function byTime<Call>(spans: readonly Span<Call>[]): { span: Span<Call>; isEnd: boolean }[] {
  const events = spans.flatMap((span) => [
    { span, isEnd: false, at: span.begin },
    ...(span.end === Infinity ? [] : [{ span, isEnd: true, at: span.end }]),
  ]);
  return events.sort((one, other) => one.at - other.at || Number(one.isEnd) - Number(other.isEnd));
}

export class TooManyExplanations extends Error {
  constructor() {
    super(`more than ${MOST_CONFIGURATIONS} explanations at a time: the history is too wide to be judged`);
  }
}

interface Pending<Call> {
  readonly span: Span<Call>;
  readonly bit: bigint;
}

class Search<State, Call> {
  private readonly pending = new Map<Span<Call>, Pending<Call>>();
  private readonly freeBits: bigint[] = [];
  private nextBit = 1n;
  private current: Configurations<State>;
  /** In the order of their ends. */
  private readonly looks: readonly Span<Call>[];
  private looksEnded = 0;

  constructor(
    private readonly model: Model<State, Call>,
    spans: readonly Span<Call>[],
  ) {
    this.looks = spans.filter((span) => span.onlyLooks).sort((one, other) => one.end - other.end);
    this.current = new Configurations(model);
    this.current.add({ state: model.initial, done: 0n });
  }

  begin(span: Span<Call>): void {
    const bit = this.freeBits.pop() ?? this.nextBit;
    if (bit === this.nextBit) this.nextBit <<= 1n;
    this.pending.set(span, { span, bit });
  }

  /** False: nothing explains it. Then the search is where it was before. */
  end(span: Span<Call>): boolean {
    const { bit } = this.pending.get(span)!;
    const next = this.until(bit);
    if (!span.required) for (const configuration of this.current.all()) next.add(configuration);
    if (next.size === 0) return false;
    this.pending.delete(span);
    this.freeBits.push(bit);
    const without = new Configurations(this.model);
    for (const { state, done } of next.all()) without.add({ state, done: done & ~bit });
    without.dropWhatSaysLess(this.pendingLooks());
    this.current = without;
    if (span.onlyLooks === true) this.looksEnded += 1;
    return true;
  }

  states(): State[] {
    const reached = this.until(0n);
    return [...new Map(reached.all().map(({ state }) => [this.model.nameOf(state), state])).values()];
  }

  /** Everything that can be reached and has this bit, and no further. No bit: everything that can be reached. */
  private until(bit: bigint): Configurations<State> {
    const reached = new Configurations(this.model);
    const seen = new Configurations(this.model);
    const open = this.current.all().map((one) => this.settled(one));
    for (const one of open) seen.add(one);
    for (let one = open.pop(); one !== undefined; one = open.pop()) {
      if (bit === 0n || (one.done & bit) !== 0n) reached.add(one);
      if (bit !== 0n && (one.done & bit) !== 0n) continue;
      for (const next of this.steps(one)) if (seen.add(next)) open.push(next);
      if (seen.size > MOST_CONFIGURATIONS) throw new TooManyExplanations();
    }
    return reached;
  }

  private steps({ state, done }: Configuration<State>): Configuration<State>[] {
    const next: Configuration<State>[] = [];
    for (const { span, bit } of this.candidates(done))
      for (const after of this.model.apply(state, span.call))
        next.push({ state: after, done: span.isLasting === true ? done : done | bit });
    for (const after of this.model.onItsOwn?.(state) ?? []) next.push({ state: after, done });
    return next.map((one) => this.settled(one)).filter((one) => !this.isHopeless(one));
  }

  private isHopeless({ state, done }: Configuration<State>): boolean {
    const { model, looks, looksEnded } = this;
    if (model.isPast === undefined) return false;
    const ahead = looks.slice(looksEnded, looksEnded + LOOKS_AHEAD);
    return [...ahead, ...looks.slice(-1)].some((look) => {
      const { bit = 0n } = this.pending.get(look) ?? {};
      return (done & bit) === 0n && model.isPast!(state, look.call);
    });
  }

  /** Of those that are interchangeable, the one that ends first: the others can take effect for longer. */
  private candidates(done: bigint): Pending<Call>[] {
    const found = new Map<string | Span<Call>, Pending<Call>>();
    for (const one of this.pending.values()) {
      if (one.span.onlyLooks === true || (done & one.bit) !== 0n) continue;
      const name = one.span.alike ?? one.span;
      const other = found.get(name);
      if (other === undefined || one.span.end < other.span.end) found.set(name, one);
    }
    return [...found.values()];
  }

  /** With every look that fits here taken. */
  private settled({ state, done }: Configuration<State>): Configuration<State> {
    let all = done;
    for (const { span, bit } of this.pending.values())
      if (span.onlyLooks === true && (done & bit) === 0n && this.model.apply(state, span.call).length > 0)
        all |= bit;
    return { state, done: all };
  }

  private pendingLooks(): bigint {
    let bits = 0n;
    for (const { span, bit } of this.pending.values()) if (span.onlyLooks === true) bits |= bit;
    return bits;
  }
}
