import { StoreUnavailableError } from "../ports/payment-repository";
import type { Attempted } from "./attempt-delivery";
import type { WebhookContext } from "./webhook-context";

/** Writes down what became of attempts, as many together as there are: a commit is what costs. */
export class SettleAttempts {
  private readonly waiting: Attempted[] = [];
  private writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly context: Pick<WebhookContext, "store" | "observer">,
    private readonly owner: string,
    private readonly onSettled: (settled: Attempted) => void,
  ) {}

  add(attempted: Attempted): void {
    this.waiting.push(attempted);
  }

  /**
   * Writes all that there is. Never rejects: what could not be written is tried again from the attempt on, and its receiver
   * knows it by its id.
   */
  settle(): Promise<void> {
    this.writing = this.writing.then(async () => {
      const attempts = this.waiting.splice(0);
      if (attempts.length > 0) await this.write(attempts);
    });
    return this.writing;
  }

  private async write(attempts: readonly Attempted[]): Promise<void> {
    try {
      const settlements = attempts.map(({ settlement }) => settlement);
      await this.context.store.queue.settle(this.owner, settlements);
    } catch (error) {
      // One that is refused must not keep the others from being written.
      if (attempts.length > 1 && !(error instanceof StoreUnavailableError)) {
        for (const one of attempts) await this.write([one]);
        return;
      }
      this.context.observer.failed(error);
      for (const one of attempts) this.onSettled(one);
      return;
    }
    for (const one of attempts) {
      this.tell(one);
      this.onSettled(one);
    }
  }

  private tell({ claimed, outcome, settlement: { next, attempt, disable } }: Attempted): void {
    const { observer } = this.context;
    observer.attempted({
      endpointId: claimed.endpoint.id,
      eventId: claimed.eventId,
      outcome: next instanceof Date ? "retried" : next,
      failure: outcome.failure,
      status: outcome.status,
      lagMs: Math.max(0, attempt.at.getTime() - claimed.eventAt.getTime()),
      tookMs: outcome.tookMs,
    });
    if (disable !== null) observer.disabled(claimed.endpoint.id, disable.reason);
  }
}
