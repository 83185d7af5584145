/** As `GET /events` tells it. */
export interface ToldEvent {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly data: { readonly payment: { readonly id: string }; readonly sequence: number };
}

/** A line of a payment's own history, as an operator sees it. */
export interface HistoryLine {
  readonly id: string;
  readonly type: string;
  readonly data: { readonly release?: boolean; readonly again?: boolean };
}

const TOLD: Readonly<Record<string, string>> = {
  "payment.authorized": "payment.authorized",
  "payment.declined": "payment.declined",
  "payment.captured": "payment.captured",
  "payment.voided": "payment.voided",
  "payment.expired": "payment.expired",
  "refund.succeeded": "payment.refunded",
  "capture.failed": "capture.failed",
  "void.failed": "void.failed",
  "refund.failed": "refund.failed",
  "authorize.pending": "operation.pending",
  "capture.pending": "operation.pending",
  "void.pending": "operation.pending",
  "refund.pending": "operation.pending",
  "authorize.unknown": "operation.unknown",
  "capture.unknown": "operation.unknown",
  "void.unknown": "operation.unknown",
  "refund.unknown": "operation.unknown",
  "operation.needs_review": "operation.needs_review",
  "review.resolved": "operation.resolved",
  "dispute.opened": "dispute.opened",
  "dispute.updated": "dispute.updated",
  "dispute.closed": "dispute.closed",
};
const NEVER_OF_RELEASES = /^void\.(failed|unknown|pending)$/;

/**
 * What has to be told of a payment with this history, in order, written down a second time: nothing of it is taken from
 * the code under test. Histories in which two answers contradict each other are not what this is for.
 */
export function tellable(history: readonly HistoryLine[]): readonly Pick<ToldEvent, "id" | "type">[] {
  const releases = releasesIn(history);
  return history
    .filter(({ type, data }) => type in TOLD && data.again !== true)
    .filter((line) => !(NEVER_OF_RELEASES.test(line.type) && releases.has(operationOf(line))))
    .map(({ id, type }) => ({ id, type: TOLD[type]! }));
}

function releasesIn(history: readonly HistoryLine[]): ReadonlySet<unknown> {
  return new Set(history.filter(({ data }) => data.release === true).map(operationOf));
}

function operationOf({ data }: HistoryLine): unknown {
  return (data as { operationId?: unknown }).operationId;
}

/** Each event of this payment once, in its order, counted, and nothing else. */
export function expectTold(told: readonly ToldEvent[], history: readonly HistoryLine[]): void {
  expect(told.map(({ id, type }) => ({ id, type }))).toEqual(tellable(history));
  expect(told.map(({ data }) => data.sequence)).toEqual(told.map((_, n) => n + 1));
}

/** Follows the feed as a reader does that never looks back, from server to server, also while some of them are dead. */
export class FeedFollower {
  readonly seen: ToldEvent[] = [];
  private cursor: string | undefined;
  private isStopping = false;
  private readonly following: Promise<void>;

  /** `urls` may change meanwhile: who is started again listens elsewhere. */
  constructor(private readonly urls: readonly string[]) {
    this.following = this.follow();
  }

  /** Resolves with everything that was told, once there is nothing more. */
  async end(): Promise<readonly ToldEvent[]> {
    this.isStopping = true;
    await this.following;
    return this.seen;
  }

  private async follow(): Promise<void> {
    for (let turn = 0; ; turn += 1) {
      const isLast = this.isStopping;
      const told = await this.ask(this.urls[turn % this.urls.length]!);
      if (isLast && told === 0) return;
    }
  }

  /** How many were told; null where nobody answered. */
  private async ask(url: string): Promise<number | null> {
    const after = this.cursor === undefined ? "" : `&after=${this.cursor}`;
    try {
      const answer = await fetch(`${url}/events?limit=20&wait=1${after}`);
      if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
      const { data, nextCursor } = (await answer.json()) as { data: ToldEvent[]; nextCursor: string };
      this.seen.push(...data);
      this.cursor = nextCursor;
      return data.length;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return null;
    }
  }
}
