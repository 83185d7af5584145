import { paymentUseCases, type PaymentUseCases } from "../../payment-use-cases";
import type { OperationContext } from "../../operations/operation-context";
import type { AuthorizationLookup } from "../../ports/authorization-lookup";
import type { CustomerPages } from "../../ports/customer/customer-pages";
import type { EventFeed } from "../../ports/events/event-feed";
import type { LockProvider } from "../../ports/lock-provider";
import type { WebhookDestinations } from "../../ports/events/webhook-sender";
import { DispatchWebhooks } from "../../webhooks/dispatch-webhooks";
import { ManageWebhookEndpoints } from "../../webhooks/manage-webhook-endpoints";
import { RedeliverWebhooks } from "../../webhooks/redeliver-webhooks";
import type { WebhookContext } from "../../webhooks/webhook-context";
import { ClockMoves, type ClockTarget } from "./clock-moves";
import type { SandboxClock } from "./sandbox-clock";

/** What a world is made of. Its store, gateway, locks and clock are its own: nothing of it is anybody else's. */
export interface SandboxWorldParts {
  readonly locks: LockProvider;
  readonly operations: OperationContext;
  readonly authorizations: AuthorizationLookup;
  readonly customerPages: CustomerPages;
  readonly eventFeed: EventFeed;
  readonly webhooks: WorldWebhooks;
  readonly clock: SandboxClock;
  /** All of it, of one instant: the store's content and the gateway's memory belong together. */
  readonly takeContent: () => Promise<WorldContent>;
  /** Grows with each change of the store. */
  readonly storeRevision: () => number;
  readonly countPayments: () => number;
  readonly onError: (error: unknown) => void;
}

export interface WorldWebhooks {
  readonly context: WebhookContext;
  readonly destinations: WebhookDestinations;
  readonly randomBytes: (size: number) => Uint8Array;
}

export interface WorldContent {
  /** JSON. */
  readonly content: unknown;
  /** The world's revision at that instant. */
  readonly revision: number;
}

/** Makes worlds. `restore` throws an `Error` in words on content that is not of a world. */
export interface SandboxWorlds {
  create(now: Date): SandboxWorld;
  restore(content: unknown): SandboxWorld;
}

/** In one sandbox there is one clock, so there is nobody to be lenient to. */
const NO_GRACE_MS = 0;

/** A payments world of its own: the use cases of live payments over a store, a gateway and a clock that nobody shares. */
export class SandboxWorld {
  readonly payments: PaymentUseCases & { readonly eventFeed: EventFeed };
  readonly webhookEndpoints: ManageWebhookEndpoints;
  readonly webhookDeliveries: RedeliverWebhooks;
  private readonly webhooks: DispatchWebhooks;
  private readonly clockMoves: ClockMoves;
  private delivering: Promise<unknown> = Promise.resolve();

  constructor(private readonly parts: SandboxWorldParts) {
    const { locks, operations, authorizations, eventFeed, webhooks, clock, onError } = parts;
    const useCases = paymentUseCases({
      locks,
      operations,
      authorizations,
      account: "the merchant's own",
      onError,
      expiryGraceMs: NO_GRACE_MS,
    });
    this.payments = { ...useCases, eventFeed };
    const { destinations, randomBytes } = webhooks;
    this.webhooks = new DispatchWebhooks(webhooks.context);
    this.webhookEndpoints = new ManageWebhookEndpoints({
      ...webhooks.context,
      destinations,
      randomBytes,
      // Nothing waits for it here: each delivery looks for itself.
      onListening: () => {},
    });
    this.webhookDeliveries = new RedeliverWebhooks({
      ...webhooks.context,
      endpoints: this.webhookEndpoints,
      onEnqueued: () => this.deliverSoon(),
    });
    this.clockMoves = new ClockMoves({
      clock,
      payments: operations.payments,
      webhooks: webhooks.context.store.queue,
      sleep: operations.sleep,
      expire: useCases.expireAuthorizations,
      reconcile: useCases.reconcileOperations,
      deliver: () => this.deliver(),
    });
  }

  /** Where the customers of its payments act. */
  get customerPages(): CustomerPages {
    return this.parts.customerPages;
  }

  get now(): Date {
    return this.parts.clock.now();
  }

  get paymentCount(): number {
    return this.parts.countPayments();
  }

  /** Two equal readings: nothing changed in between. */
  get revision(): number {
    return this.parts.storeRevision() + this.clockMoves.count;
  }

  takeContent(): Promise<WorldContent> {
    return this.parts.takeContent();
  }

  /** Moves the clock, and does on the way what falls due. */
  moveClock(wanted: ClockTarget): Promise<void> {
    return this.clockMoves.move(wanted);
  }

  /**
   * Delivers what is due, behind the back of whoever made it due. Nothing looks after it by the real time: a sandbox's
   * stands still.
   */
  deliverSoon(): void {
    this.deliver().catch((error: unknown) => this.parts.onError(error));
  }

  /** One after the other: two at once would make the same look for what is due. */
  private deliver(): Promise<number> {
    const delivery = this.delivering.then(() => this.webhooks.drain());
    this.delivering = delivery.catch(() => undefined);
    return delivery;
  }
}
