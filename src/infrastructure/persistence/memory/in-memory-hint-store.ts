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
  /** By account, the common one under "". */
  private readonly readTo = new Map<string, Date>();
  private begunAtMs = 0;

  constructor(private readonly nowMs: () => number = () => performance.now()) {}

  async receive(hints: readonly GatewayHint[], now: Date): Promise<number> {
    const fresh = hints.filter(({ account, eventId }) => {
      const event = placeOf({ account, reference: eventId });
      if (this.seen.has(event)) return false;
      this.seen.set(event, now);
      return true;
    });
    for (const { account, reference, labelled } of fresh) {
      const place = placeOf({ account, reference });
      const known = this.hints.get(place)?.hint;
      const hint = {
        ...(account !== undefined && { account }),
        reference,
        labelled: labelled ?? known?.labelled ?? null,
        revision: (known?.revision ?? 0) + 1,
        receivedAt: now,
        attempts: 0,
      };
      this.hints.set(place, { hint, dueAtMs: now.getTime() });
    }
    return fresh.length;
  }

  async claim({ owner, leaseMs, now, limit }: HintClaim): Promise<readonly ClaimedHint[]> {
    const due = [...this.hints.values()]
      .filter(({ dueAtMs, hint }) => dueAtMs <= now.getTime() && this.loanOf(placeOf(hint)) === null)
      .sort((a, b) => a.dueAtMs - b.dueAtMs)
      .slice(0, limit);
    for (const { hint } of due) this.loans.set(placeOf(hint), { owner, untilMs: this.nowMs() + leaseMs });
    return due.map(({ hint }) => hint);
  }

  async settle(owner: string, claimed: ClaimedHint, next: NextTry | null): Promise<void> {
    const place = placeOf(claimed);
    const kept = this.hints.get(place);
    if (kept === undefined || this.loans.get(place)?.owner !== owner) return;
    this.loans.delete(place);
    if (kept.hint.revision !== claimed.revision) return;
    if (next === null) this.hints.delete(place);
    else {
      const hint = { ...kept.hint, attempts: next.attempts };
      this.hints.set(place, { hint, dueAtMs: next.dueAt.getTime() });
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
      this.hints.delete(placeOf(hint));
      this.loans.delete(placeOf(hint));
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
    return { caughtUpTo: await this.caughtUpTo("") };
  }

  async caughtUpTo(account: string): Promise<Date | null> {
    return this.readTo.get(account) ?? null;
  }

  async caughtUp(to: Date, account = ""): Promise<void> {
    const before = this.readTo.get(account);
    if (before === undefined || before < to) this.readTo.set(account, to);
  }

  private loanOf(place: string): Loan | null {
    const loan = this.loans.get(place);
    return loan !== undefined && loan.untilMs > this.nowMs() ? loan : null;
  }
}

/** What one account calls so is another thing than what another one calls so. */
function placeOf({
  account = "",
  reference,
}: {
  readonly account?: string | undefined;
  readonly reference: string;
}): string {
  return `${account}/${reference}`;
}
