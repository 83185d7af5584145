import { SecretsKeyError } from "../ports/events/secret-box";
import type { ClaimedDelivery } from "../ports/events/webhook-delivery-queue";
import { attemptDelivery, type AttemptContext } from "./attempt-delivery";
import { DeliveriesInHand, type InHand } from "./deliveries-in-hand";
import { EndpointsAsOfNow } from "./endpoints-as-of-now";
import { FanOutEvents } from "./fan-out-events";
import { OpenedSecrets } from "./opened-secrets";
import { SettleAttempts } from "./settle-attempts";
import { sleep } from "./sleep";
import type { WebhookContext } from "./webhook-context";
import { STOP_WITHIN_MS } from "./webhook-limits";

/** Without any key nothing can be signed here; another instance may have one, so nothing is taken for so long. */
const WITHOUT_KEY_MS = 30_000;

/**
 * Delivers, as long as it runs, in rounds: writes down what became of attempts, fans out what is new and takes what is due.
 * The next round comes when something was published or answered, and after a while in any case, because other instances are
 * not heard. What was taken is sent meanwhile.
 */
export class DispatchWebhooks {
  private readonly fanOut: FanOutEvents;
  private readonly owner: string;
  private readonly hand: DeliveriesInHand;
  private readonly attempts: SettleAttempts;
  private readonly attempting: AttemptContext;
  private readonly endpoints: EndpointsAsOfNow;
  private readonly underway = new Set<Promise<void>>();
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;
  private wake: (() => void) | undefined;
  private isWoken = false;
  /** Nobody waits for what is still under way, and the store may be closed. */
  private isOver = false;
  private withoutKeyUntilMs = 0;
  private tendedAtMs = -Infinity;

  constructor(private readonly context: WebhookContext) {
    this.fanOut = new FanOutEvents(context);
    this.owner = context.ids.nextId();
    this.hand = new DeliveriesInHand(context.limits);
    this.endpoints = new EndpointsAsOfNow(context);
    this.attempting = { ...context, opened: new OpenedSecrets(context.secrets) };
    this.attempts = new SettleAttempts(context, this.owner, ({ claimed }) => this.hand.letGo(claimed.id));
  }

  start(): void {
    this.running ??= this.loop();
  }

  /** Looks for what is due at once: something was added past the feed, or somebody listens now. */
  nudge(): void {
    this.isWoken = true;
    this.wake?.();
  }

  /** What is under way is waited for, but not for long; what is left then is there for others. */
  async stop(withinMs = STOP_WITHIN_MS): Promise<void> {
    this.stopping.abort();
    this.wake?.();
    await this.running;
    await this.giveBack(this.hand.letGoOfWaiting());
    const patience = new AbortController();
    const ended = Promise.all(this.underway).then(() => patience.abort());
    await Promise.race([ended, sleep(withinMs, patience.signal)]);
    this.isOver = true;
    await this.attempts.settle();
    await this.giveBack(this.hand.ids);
  }

  /**
   * Everything that is due now, and what falls due by it, for a world whose time stands still. Resolves with how many
   * attempts were made.
   */
  async drain(): Promise<number> {
    let attempts = 0;
    for (;;) {
      await this.attempts.settle();
      while ((await this.fanOut.execute()).isMore);
      attempts += await this.take();
      if ((this.hand.size === 0 && this.underway.size === 0) || this.isOver) return attempts;
      if (this.underway.size > 0) await Promise.race(this.underway);
    }
  }

  private async loop(): Promise<void> {
    const { feed, limits, observer } = this.context;
    const { signal } = this.stopping;
    const renewing = this.renewNow(signal);
    while (!signal.aborted) {
      const beganMs = this.context.monotonicMs();
      const since = feed.published;
      this.isWoken = false;
      let isMore = false;
      try {
        await this.attempts.settle();
        ({ isMore } = await this.fanOut.execute());
        await this.take();
        await this.tend();
      } catch (error) {
        observer.failed(error);
      }
      if (isMore) continue;
      await this.pause(since, signal);
      await sleep(limits.roundMs - (this.context.monotonicMs() - beganMs), signal);
    }
    await renewing;
  }

  /** Until something was published that anybody wants, something was answered, or the time is over. */
  private async pause(since: number, signal: AbortSignal): Promise<void> {
    if (this.isWoken) return;
    const { feed, limits } = this.context;
    const over = new AbortController();
    this.wake = () => over.abort();
    signal.addEventListener("abort", this.wake, { once: true });
    if (this.fanOut.hasListeners) await feed.changed(since, limits.pollMs, over.signal);
    else await sleep(limits.pollMs, over.signal);
    signal.removeEventListener("abort", this.wake);
    this.wake = undefined;
  }

  private async take(): Promise<number> {
    const { store, limits, clock } = this.context;
    if (this.hand.isFull) await this.giveBack(this.hand.letGoOfWaiting());
    if (this.isWithoutKey()) return 0;
    const { owner, hand } = this;
    const { leaseMs } = limits;
    let taken = 0;
    for (const wish of hand.wishes) {
      const bounds = wish();
      const { limit } = bounds;
      if (limit <= 0) continue;
      const askedMs = this.context.monotonicMs();
      const claimed = await store.queue.claim({ owner, leaseMs, now: clock.now(), ...bounds });
      for (const one of claimed) hand.add(one, askedMs);
      this.begin();
      taken += claimed.length;
      // There is no more.
      if (claimed.length < limit) break;
    }
    return taken;
  }

  /** What has a place. */
  private begin(): void {
    for (let next = this.hand.next(); next !== undefined; next = this.hand.next()) {
      const one = next;
      const attempt = this.attempt(one).finally(() => {
        this.underway.delete(attempt);
        this.hand.answered(one.claimed);
        this.begin();
        this.nudge();
      });
      this.underway.add(attempt);
    }
  }

  private async attempt({ claimed: lent, sinceMs }: InHand): Promise<void> {
    const { context, hand } = this;
    try {
      const claimed = this.endpoints.isFresh(sinceMs) ? lent : await this.endpoints.of(lent);
      if (claimed === null) {
        hand.letGo(lent.id);
        return await this.giveBack([lent.id, ...hand.letGoOfWaiting([lent.endpointId])]);
      }
      // After a standstill another process may have sent it, and later ones of its payment: they must not be overtaken.
      if (!hand.isLent(lent.id, context.monotonicMs())) {
        hand.letGo(lent.id);
        return await this.giveBack([lent.id]);
      }
      const attempted = await attemptDelivery(this.attempting, claimed);
      if (this.isOver) return hand.letGo(lent.id);
      this.attempts.add(attempted);
      if (attempted.settlement.disable !== null) await this.giveBack(hand.letGoOfWaiting([lent.endpointId]));
    } catch (error) {
      // Whatever became of it is not written down: it is tried again, and its receiver knows it by its id.
      hand.letGo(lent.id);
      if (this.isOver) return;
      context.observer.failed(error);
      if (!(error instanceof SecretsKeyError)) return;
      this.withoutKeyUntilMs = context.monotonicMs() + WITHOUT_KEY_MS;
      await this.giveBack([lent.id, ...hand.letGoOfWaiting()]);
    }
  }

  private isWithoutKey(): boolean {
    return this.context.monotonicMs() < this.withoutKeyUntilMs;
  }

  private async giveBack(ids: readonly ClaimedDelivery["id"][]): Promise<void> {
    const { store, observer } = this.context;
    if (ids.length === 0) return;
    // Else their loans end by themselves.
    await store.queue.giveBack(this.owner, ids).catch((error: unknown) => observer.failed(error));
  }

  /** As long as an attempt lasts longer than its loan. */
  private async renewNow(signal: AbortSignal): Promise<void> {
    const { store, limits, observer } = this.context;
    while (!signal.aborted) {
      await sleep(limits.renewMs, signal);
      if (this.hand.size === 0) continue;
      const { ids } = this.hand;
      const askedMs = this.context.monotonicMs();
      await store.queue.renew(this.owner, ids, limits.leaseMs).then(
        () => this.hand.renewed(ids, askedMs),
        (error: unknown) => observer.failed(error),
      );
    }
  }

  private async tend(): Promise<void> {
    const { store, clock, limits } = this.context;
    if (this.context.monotonicMs() - this.tendedAtMs < limits.tendMs) return;
    this.tendedAtMs = this.context.monotonicMs();
    const now = clock.now();
    await store.deliveries.tend({
      now,
      settledBefore: new Date(now.getTime() - limits.keptMs),
      limit: limits.batch * 10,
    });
  }
}
