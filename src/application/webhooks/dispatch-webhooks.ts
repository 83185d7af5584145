import { SecretsKeyError } from "../ports/events/secret-box";
import type { ClaimedDelivery } from "../ports/events/webhook-store";
import { attemptDelivery } from "./attempt-delivery";
import { FanOutEvents } from "./fan-out-events";
import type { WebhookContext } from "./webhook-context";
import { STOP_WITHIN_MS } from "./webhook-limits";

/** Without any key nothing can be signed here; another instance may have one, so nothing is taken for so long. */
const WITHOUT_KEY_MS = 30_000;
/** Between two looks for what is due while deliveries end one after the other: many ends, one look. */
const SETTLE_MS = 5;
/**
 * Beyond this share of all places, an endpoint gets one at a time: else sixteen slow ones would fill them all. So it takes
 * forty.
 */
const CROWDED = 0.5;

/**
 * Delivers, as long as it runs: fans out what is new, takes what is due as far as there are places, and looks again when
 * something was published, when a place is free, and after a while in any case, because other instances are not heard.
 */
export class DispatchWebhooks {
  private readonly fanOut: FanOutEvents;
  private readonly owner: string;
  private readonly underway = new Map<ClaimedDelivery["id"], Promise<void>>();
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
  }

  start(): void {
    this.running ??= this.loop();
  }

  /** Looks for what is due at once: something was added past the feed. */
  nudge(): void {
    this.isWoken = true;
    this.wake?.();
  }

  /** What is under way is waited for, but not for long; what is left then is there for others. */
  async stop(withinMs = STOP_WITHIN_MS): Promise<void> {
    this.stopping.abort();
    this.wake?.();
    await this.running;
    const patience = new AbortController();
    const ended = Promise.all(this.underway.values()).then(() => patience.abort());
    await Promise.race([ended, sleep(withinMs, patience.signal)]);
    this.isOver = true;
    if (this.underway.size > 0) await this.context.store.giveBack(this.owner, this.ids());
  }

  /**
   * Everything that is due now, and what falls due by it, for a world whose time stands still. Resolves with how many
   * attempts were made.
   */
  async drain(signal?: AbortSignal): Promise<number> {
    let attempts = 0;
    for (;;) {
      while ((await this.fanOut.execute()).isMore);
      const taken = await this.take();
      attempts += taken;
      if (this.underway.size === 0 || signal?.aborted === true) return attempts;
      await Promise.race(this.underway.values());
    }
  }

  private async loop(): Promise<void> {
    const { feed, limits, observer } = this.context;
    const { signal } = this.stopping;
    const renewing = this.renewNow(signal);
    while (!signal.aborted) {
      const since = feed.published;
      this.isWoken = false;
      let isMore = false;
      try {
        ({ isMore } = await this.fanOut.execute());
        await this.take();
        await this.tend();
      } catch (error) {
        observer.failed(error);
      }
      if (!isMore) await this.pause(since, limits.pollMs, signal);
    }
    await renewing;
  }

  /** Until something was published, a place is free, or the time is over. */
  private async pause(since: number, withinMs: number, signal: AbortSignal): Promise<void> {
    if (this.wasWoken()) return sleep(SETTLE_MS, signal);
    const over = new AbortController();
    this.wake = () => over.abort();
    signal.addEventListener("abort", this.wake, { once: true });
    await this.context.feed.changed(since, withinMs, over.signal);
    signal.removeEventListener("abort", this.wake);
    this.wake = undefined;
    if (this.wasWoken()) await sleep(SETTLE_MS, signal);
  }

  private wasWoken(): boolean {
    return this.isWoken;
  }

  private async take(): Promise<number> {
    const { store, limits, clock } = this.context;
    if (this.context.monotonicMs() < this.withoutKeyUntilMs) return 0;
    let taken = 0;
    for (const { places, perEndpoint } of [
      { places: limits.inAll * CROWDED, perEndpoint: limits.perEndpoint },
      { places: limits.inAll, perEndpoint: 1 },
    ]) {
      const limit = places - this.underway.size;
      if (limit <= 0) continue;
      const { owner } = this;
      const { leaseMs } = limits;
      const claimed = await store.claim({ owner, leaseMs, now: clock.now(), perEndpoint, limit });
      for (const one of claimed) this.begin(one);
      taken += claimed.length;
      // There is no more.
      if (claimed.length < limit) break;
    }
    return taken;
  }

  private begin(claimed: ClaimedDelivery): void {
    const { id } = claimed;
    const attempt = this.attempt(claimed).finally(() => {
      this.underway.delete(id);
      this.isWoken = true;
      this.wake?.();
    });
    this.underway.set(id, attempt);
  }

  private async attempt(claimed: ClaimedDelivery): Promise<void> {
    const { store, observer } = this.context;
    try {
      await attemptDelivery(this.context, claimed, this.owner);
    } catch (error) {
      if (this.isOver) return;
      if (error instanceof SecretsKeyError)
        this.withoutKeyUntilMs = this.context.monotonicMs() + WITHOUT_KEY_MS;
      observer.failed(error);
      // Whatever became of it is not written down: it is tried again, and its receiver knows it by its id.
      if (error instanceof SecretsKeyError)
        await store.giveBack(this.owner, [claimed.id]).catch((failure: unknown) => observer.failed(failure));
    }
  }

  /** As long as an attempt lasts longer than its loan. */
  private async renewNow(signal: AbortSignal): Promise<void> {
    const { store, limits, observer } = this.context;
    while (!signal.aborted) {
      await sleep(limits.renewMs, signal);
      if (this.underway.size === 0) continue;
      await store
        .renew(this.owner, this.ids(), limits.leaseMs)
        .catch((error: unknown) => observer.failed(error));
    }
  }

  private ids(): readonly ClaimedDelivery["id"][] {
    return [...this.underway.keys()];
  }

  private async tend(): Promise<void> {
    const { store, clock, limits } = this.context;
    if (this.context.monotonicMs() - this.tendedAtMs < limits.tendMs) return;
    this.tendedAtMs = this.context.monotonicMs();
    const now = clock.now();
    await store.tend({
      now,
      settledBefore: new Date(now.getTime() - limits.keptMs),
      limit: limits.batch * 10,
    });
  }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const over = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", over);
      resolve();
    };
    const timer = setTimeout(over, ms);
    signal.addEventListener("abort", over, { once: true });
  });
}
