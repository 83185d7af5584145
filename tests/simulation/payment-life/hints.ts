import { FollowHint } from "../../../src/application/gateway-events/follow-hint";
import type { HintOutcome } from "../../../src/application/gateway-events/hint-observer";
import type { PaymentGateway } from "../../../src/application/ports/payment-gateway";
import { ObservePayment } from "../../../src/application/use-cases/observe-payment";
import type { PaymentId } from "../../../src/domain/identifiers";
import type { ServiceProcess } from "./service-process";

export interface HintParts {
  /** How the process asks because of a hint; a planted mistake asks otherwise. */
  readonly asking?: (gateway: PaymentGateway) => PaymentGateway;
  readonly complain: (what: string) => void;
}

/** A process follows a hint that points at this payment by its label: its reference may not have arrived. */
export function followHint(
  { locks, context }: ServiceProcess,
  paymentId: PaymentId,
  { asking = (gateway) => gateway, complain }: HintParts,
): Promise<HintOutcome> {
  const watched = asking(complaining(context.gateway, complain));
  const own = { ...context, gateway: watched };
  const hint = { reference: `of ${paymentId}`, labelled: paymentId };
  return new FollowHint(locks, own, new ObservePayment(locks, own)).execute(hint);
}

/** Whatever a hint says: nothing is sent because of it. */
function complaining(gateway: PaymentGateway, complain: HintParts["complain"]): PaymentGateway {
  const sends = (kind: "authorize" | "capture" | "void" | "refund") => (request: never) => {
    complain(`a hint had a ${kind} sent`);
    return gateway[kind](request);
  };
  return {
    remembersKeysForMs: gateway.remembersKeysForMs,
    authorize: sends("authorize"),
    capture: sends("capture"),
    void: sends("void"),
    refund: sends("refund"),
    find: (request) => gateway.find(request),
    ...(gateway.picture === undefined ? {} : { picture: gateway.picture.bind(gateway) }),
  };
}
