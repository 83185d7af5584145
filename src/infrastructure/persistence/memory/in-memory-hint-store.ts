import type { GatewayHint } from "../../../application/ports/gateway-events/gateway-hint";
import type {
  CatchUpBegun,
  ClaimedHint,
  HintClaim,
  HintStore,
  HintTending,
  NextTry,
} from "../../../application/ports/gateway-events/hint-store";

interface Kept {
  readonly hint: ClaimedHint;
  readonly dueAtMs: number;
}

interface Loan {
  readonly owner: string;
  readonly untilMs: number;
}

/**
 * Hints in the memory of one process. Excludes whoever else is in it: each call is one turn.
 * Survives nothing: the list of the gateway's events is read again from its beginning.
 * Not for many hints at once: it looks at all of them.
 */
export class InMemoryHintStore implements HintStore {
  /** In the order in which they were seen. */
  private readonly seen = new Map<string, Date>();
  private readonly hints = new Map<string, Kept>();
  private readonly loans = new Map<string, Loan>();
  private caughtUpTo: Date | null = null;
  private begunAtMs = 0;

  constructor(private readonly nowMs: () => number = () => performance.now()) {}

  async receive(hints: readonly GatewayHint[], now: Date): Promise<number> {
    const fresh = hints.filter(({ eventId }) => {
      if (this.seen.has(eventId)) return false;
      this.seen.set(eventId, now);
      return true;
    });
    for (const { reference, labelled } of fresh) {
      const known = this.hints.get(reference)?.hint;
      const hint = {
        reference,
        labelled: labelled ?? known?.labelled ?? null,
        revision: (known?.revision ?? 0) + 1,
        receivedAt: now,
        attempts: 0,
      };
      this.hints.set(reference, { hint, dueAtMs: now.getTime() });
    }
    return fresh.length;
  }

  async claim({ owner, leaseMs, now, limit }: HintClaim): Promise<readonly ClaimedHint[]> {
    const due = [...this.hints.values()]
      .filter(({ dueAtMs, hint }) => dueAtMs <= now.getTime() && this.loanOf(hint.reference) === null)
      .sort((a, b) => a.dueAtMs - b.dueAtMs)
      .slice(0, limit);
    for (const { hint } of due) this.loans.set(hint.reference, { owner, untilMs: this.nowMs() + leaseMs });
    return due.map(({ hint }) => hint);
  }

  async settle(owner: string, { reference, revision }: ClaimedHint, next: NextTry | null): Promise<void> {
    const kept = this.hints.get(reference);
    if (kept === undefined || this.loans.get(reference)?.owner !== owner) return;
    this.loans.delete(reference);
    if (kept.hint.revision !== revision) return;
    if (next === null) this.hints.delete(reference);
    else {
      const hint = { ...kept.hint, attempts: next.attempts };
      this.hints.set(reference, { hint, dueAtMs: next.dueAt.getTime() });
    }
  }

  async tend({ seenBefore, mostHints, limit }: HintTending): Promise<number> {
    const old = [...this.seen].filter(([, at]) => at < seenBefore).slice(0, limit);
    for (const [id] of old) this.seen.delete(id);
    const oldest = [...this.hints.values()].sort(
      (a, b) => Number(a.hint.receivedAt) - Number(b.hint.receivedAt),
    );
    const dropped = oldest.slice(0, Math.max(0, Math.min(limit, oldest.length - mostHints)));
    for (const { hint } of dropped) {
      this.hints.delete(hint.reference);
      this.loans.delete(hint.reference);
    }
    return dropped.length;
  }

  async backlog(): Promise<{ waiting: number; oldestAt: Date | null }> {
    const times = [...this.hints.values()].map(({ hint }) => Number(hint.receivedAt));
    return {
      waiting: times.length,
      oldestAt: times.length === 0 ? null : new Date(times.reduce((a, b) => Math.min(a, b))),
    };
  }

  async beginCatchUp(now: Date, everyMs: number): Promise<CatchUpBegun | null> {
    const nowMs = now.getTime();
    if (this.begunAtMs > nowMs - everyMs && this.begunAtMs <= nowMs) return null;
    this.begunAtMs = nowMs;
    return { caughtUpTo: this.caughtUpTo };
  }

  async caughtUp(to: Date): Promise<void> {
    if (this.caughtUpTo === null || this.caughtUpTo < to) this.caughtUpTo = to;
  }

  private loanOf(reference: string): Loan | null {
    const loan = this.loans.get(reference);
    return loan !== undefined && loan.untilMs > this.nowMs() ? loan : null;
  }
}
