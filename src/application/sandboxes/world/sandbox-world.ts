import type { PassReport } from "../../background/background-pass";
import { paymentUseCases, type PaymentUseCases } from "../../payment-use-cases";
import type { OperationContext } from "../../operations/operation-context";
import type { AuthorizationLookup } from "../../ports/authorization-lookup";
import type { EventFeed } from "../../ports/events/event-feed";
import type { LockProvider } from "../../ports/lock-provider";
import type { WebhookDestinations } from "../../ports/events/webhook-sender";
import { DispatchWebhooks } from "../../webhooks/dispatch-webhooks";
import { ManageWebhookEndpoints } from "../../webhooks/manage-webhook-endpoints";
import { RedeliverWebhooks } from "../../webhooks/redeliver-webhooks";
import type { WebhookContext } from "../../webhooks/webhook-context";
import type { SandboxClock } from "./sandbox-clock";
import { SandboxError } from "../sandbox-errors";

/** What a world is made of. Its store, gateway, locks and clock are its own: nothing of it is anybody else's. */
export interface SandboxWorldParts {
  readonly locks: LockProvider;
  readonly operations: OperationContext;
  readonly authorizations: AuthorizationLookup;
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
/** Later dates do not fit into what is written. */
const LAST_INSTANT = new Date("9000-01-01T00:00:00.000Z");
/** How often a moving clock stops on its way; what is due after that comes due together, at the end. */
const MAX_STOPS = 500;

/** A payments world of its own: the use cases of live payments over a store, a gateway and a clock that nobody shares. */
export class SandboxWorld {
  readonly authorizePayment: PaymentUseCases["authorizePayment"];
  readonly importAuthorization: PaymentUseCases["importAuthorization"];
  readonly capturePayment: PaymentUseCases["capturePayment"];
  readonly voidPayment: PaymentUseCases["voidPayment"];
  readonly refundPayment: PaymentUseCases["refundPayment"];
  readonly readPayments: PaymentUseCases["readPayments"];
  readonly eventFeed: EventFeed;
  readonly webhookEndpoints: ManageWebhookEndpoints;
  readonly webhookDeliveries: RedeliverWebhooks;
  private readonly webhooks: DispatchWebhooks;
  private readonly expire: PaymentUseCases["expireAuthorizations"];
  private readonly reconcile: PaymentUseCases["reconcileOperations"];
  private clockMoves = 0;
  /** One move after the other, so that each begins where the one before ended. */
  private moving: Promise<unknown> = Promise.resolve();
  private delivering: Promise<unknown> = Promise.resolve();

  constructor(private readonly parts: SandboxWorldParts) {
    const { locks, operations, authorizations, eventFeed, webhooks, onError } = parts;
    this.eventFeed = eventFeed;
    const useCases = paymentUseCases({
      locks,
      operations,
      authorizations,
      account: "the merchant's own",
      onError,
      expiryGraceMs: NO_GRACE_MS,
    });
    this.authorizePayment = useCases.authorizePayment;
    this.importAuthorization = useCases.importAuthorization;
    this.capturePayment = useCases.capturePayment;
    this.voidPayment = useCases.voidPayment;
    this.refundPayment = useCases.refundPayment;
    this.readPayments = useCases.readPayments;
    this.expire = useCases.expireAuthorizations;
    this.reconcile = useCases.reconcileOperations;
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
  }

  get now(): Date {
    return this.parts.clock.now();
  }

  get payments(): number {
    return this.parts.countPayments();
  }

  /** Two equal readings: nothing changed in between. */
  get revision(): number {
    return this.parts.storeRevision() + this.clockMoves;
  }

  takeContent(): Promise<WorldContent> {
    return this.parts.takeContent();
  }

  /**
   * Delivers what is due, behind the back of whoever made it due. Nothing looks after it by the real time: a sandbox's
   * stands still.
   */
  deliverSoon(): void {
    this.deliver().catch((error: unknown) => this.parts.onError(error));
  }

  /** Moves the clock, and does on the way, at its own time, whatever falls due: expiries, questions to the gateway, and webhooks. */
  moveClock(wanted: { readonly advanceMs: number } | { readonly to: Date }): Promise<void> {
    const move = this.moving.then(() => this.move(wanted));
    this.moving = move.catch(() => undefined);
    return move;
  }

  private async move(wanted: { readonly advanceMs: number } | { readonly to: Date }): Promise<void> {
    const { clock, operations } = this.parts;
    const target = "to" in wanted ? wanted.to : new Date(this.now.getTime() + wanted.advanceMs);
    if (target < this.now) {
      throw new SandboxError(
        "clock_not_movable",
        `the clock goes forward only: it is at ${this.now.toISOString()}`,
      );
    }
    if (!(target <= LAST_INSTANT)) {
      throw new SandboxError("clock_not_movable", `the clock ends at ${LAST_INSTANT.toISOString()}`);
    }
    // What is under way now fails or succeeds now, and not where the clock is going.
    await this.deliver();
    for (let stops = 0; stops < MAX_STOPS; stops += 1) {
      const due = await this.nextDue(target);
      if (due === null) break;
      clock.forwardTo(due);
      this.clockMoves += 1;
      const done = await this.runPasses();
      // What could not be done now would be due for ever, and time would stand still. What somebody else has just done, a
      // request's webhooks say, is not due any more.
      if (done === 0 && (await this.nextDue(target))?.getTime() === due.getTime()) break;
      // A long way must not keep everybody else in the process waiting.
      await operations.sleep(0);
    }
    clock.forwardTo(target);
    this.clockMoves += 1;
    await this.runPasses();
  }

  private async nextDue(by: Date): Promise<Date | null> {
    const webhook = await this.parts.webhooks.context.store.queue.nextDueAt();
    const other = await this.nextDueOfPayments(by);
    if (webhook === null || webhook > by) return other;
    return other === null || webhook < other ? webhook : other;
  }

  private async nextDueOfPayments(by: Date): Promise<Date | null> {
    const { payments } = this.parts.operations;
    const [operation] = await payments.dueOperations(by, 1);
    const [lapsed] = await payments.lapsedAuthorizations(by, 1);
    if (operation === undefined) return lapsed?.expiresAt ?? null;
    // Due after all of this way is due at once: no schedule reaches there, so its time cannot be true.
    const dueAt = operation.dueAt > by ? this.now : operation.dueAt;
    if (lapsed === undefined) return dueAt;
    return dueAt < lapsed.expiresAt ? dueAt : lapsed.expiresAt;
  }

  /** How many payments were worked on with success. */
  private async runPasses(): Promise<number> {
    const expired: PassReport = await this.expire.execute();
    const reconciled: PassReport = await this.reconcile.execute();
    return expired.done + reconciled.done + (await this.deliver());
  }

  /** One after the other: two at once would make the same look for what is due. */
  private deliver(): Promise<number> {
    const delivery = this.delivering.then(() => this.webhooks.drain());
    this.delivering = delivery.catch(() => undefined);
    return delivery;
  }
}
