import type { PaymentId } from "../../../../src/domain/identifiers";
import { CatchUp } from "../../../../src/application/gateway-events/catch-up";
import { FollowHint } from "../../../../src/application/gateway-events/follow-hint";
import {
  catchUpLimits,
  hintLimits,
  type HintLimits,
} from "../../../../src/application/gateway-events/hint-limits";
import type {
  HintObserver,
  HintOutcome,
  Reception,
} from "../../../../src/application/gateway-events/hint-observer";
import { ReceiveGatewayEvent } from "../../../../src/application/gateway-events/receive-gateway-event";
import { WorkOnHints } from "../../../../src/application/gateway-events/work-on-hints";
import type { HintStore } from "../../../../src/application/ports/gateway-events/hint-store";
import { ObservePayment } from "../../../../src/application/use-cases/observe-payment";
import { StripeWebhook } from "../../../../src/infrastructure/gateways/stripe/events/stripe-webhook";
import { InMemoryHintStore } from "../../../../src/infrastructure/persistence/memory/in-memory-hint-store";
import { signed, WEBHOOK_SECRET } from "../../stripe-stand-in/signed-event";
import type { StripeEvent } from "../../stripe-stand-in/stripe-events";
import { stripeInProcess } from "../../stripe-stand-in/stripe-in-process";
import { StripeStandIn } from "../../stripe-stand-in/stripe-stand-in";
import { PaymentsWorld, type WorldParts } from "../payments-world";

export interface HintsWorldParts extends Omit<WorldParts, "gateway"> {
  readonly hints?: HintStore;
  readonly limits?: Partial<HintLimits>;
  /** A part of all ids at Stripe, where several worlds share a store. */
  readonly label?: string;
}

/** Payments at the stand-in for Stripe, whose events a test delivers as it likes. Time stands still until it is moved. */
export class HintsWorld {
  readonly standIn = new StripeStandIn();
  readonly gateway = stripeInProcess(this.standIn);
  readonly payments: PaymentsWorld;
  readonly hints: HintStore;
  readonly work: WorkOnHints;
  readonly receiveGatewayEvent: ReceiveGatewayEvent;
  readonly catchUp: CatchUp;
  readonly outcomes: HintOutcome[] = [];
  readonly dropped: string[] = [];
  readonly failures: unknown[] = [];
  nudges = 0;

  constructor({ hints, limits, label = "", ...parts }: HintsWorldParts = {}) {
    this.payments = new PaymentsWorld({ ...parts, gateway: this.gateway });
    const { clock, context, locks } = this.payments;
    this.hints = hints ?? new InMemoryHintStore(() => clock.now().getTime());
    const { world } = this.standIn;
    world.label = label;
    world.events.label = label;
    world.events.now = () => clock.now().getTime();
    world.captureBefore = Math.floor(clock.now().getTime() / 1_000) + 30 * 86_400;
    const observer: HintObserver = {
      received: () => {},
      worked: (outcome) => this.outcomes.push(outcome),
      dropped: (reference) => this.dropped.push(reference),
      droppedBeyondLimit: () => {},
      failed: (error) => this.failures.push(error),
    };
    const onAccepted = () => (this.nudges += 1);
    this.work = new WorkOnHints({
      store: this.hints,
      followHint: new FollowHint(locks, context, new ObservePayment(locks, context)),
      clock,
      monotonicMs: () => clock.now().getTime(),
      ids: context.ids,
      observer,
      limits: { ...hintLimits, ...limits },
    });
    this.receiveGatewayEvent = new ReceiveGatewayEvent(
      new StripeWebhook([WEBHOOK_SECRET]),
      this.hints,
      clock,
      observer,
      onAccepted,
    );
    const { eventList: events } = this.gateway;
    this.catchUp = new CatchUp({
      events,
      store: this.hints,
      clock,
      observer,
      limits: catchUpLimits,
      onAccepted,
    });
  }

  /** All that happened at Stripe so far. */
  get events(): readonly StripeEvent[] {
    return this.standIn.world.events.all;
  }

  async statusOf(id: PaymentId): Promise<string> {
    return (await this.payments.payment(id)).facts.status;
  }

  /** `capture unknown`, and so on, in the order in which they began. */
  async operationsOf(id: PaymentId): Promise<readonly string[]> {
    return (await this.payments.payment(id)).facts.operations.map(({ kind, status }) => `${kind} ${status}`);
  }

  /** As a webhook brings it. */
  deliver(event: object, signing: Parameters<typeof signed>[1] = {}): Promise<Reception> {
    const { body, signature } = signed(event, { at: this.payments.clock.now(), ...signing });
    return this.deliverBytes(body, signature);
  }

  async deliverBytes(body: string, signature: string | undefined): Promise<Reception> {
    const receive = await this.receiveGatewayEvent.expect(signature);
    return receive(Buffer.from(body));
  }

  /** Requests that came to Stripe while this was done. */
  async requestsOf(work: () => Promise<unknown>): Promise<readonly string[]> {
    const before = this.standIn.requests.length;
    await work();
    return this.standIn.requests.slice(before);
  }
}
