import type { Operation } from "../../domain/payment/operation";
import type { Payment } from "../../domain/payment/payment";
import type { PaymentEvent } from "../../domain/payment/events";
import type { NewPublicEvent, PaymentEventContent } from "./public-event";
import { publicOperation, publicPayment, type PublicDispute } from "./public-payment";
import { publications } from "./which-events-are-public";

/**
 * What the world is told when this payment is stored, in order. Each shows the payment as the step has left it: what was
 * true for nobody, in the middle of a step, is not shown.
 */
export function publicEventsOf(payment: Payment): readonly NewPublicEvent[] {
  const { newEvents, facts } = payment;
  const told = newEvents.flatMap((event) => tellable(payment, event));
  if (told.length === 0) return [];
  const shown = publicPayment(payment);
  const disputeOf = ({ data }: PaymentEvent) => shown.disputes.find(({ id }) => id === data["disputeId"]);
  return told.map(({ event, type, operation }) => ({
    id: event.id,
    type,
    at: event.at,
    merchant: facts.merchant,
    paymentId: facts.id,
    content: {
      payment: shown,
      operation: operation === undefined ? null : { kind: operation.kind, ...publicOperation(operation) },
      ...disputeIn(disputeOf(event)),
    } satisfies PaymentEventContent,
  }));
}

function disputeIn(dispute: PublicDispute | undefined) {
  return dispute === undefined ? {} : { dispute };
}

function tellable(
  payment: Payment,
  event: PaymentEvent,
): readonly { event: PaymentEvent; type: NewPublicEvent["type"]; operation: Operation | undefined }[] {
  const publication = publications[event.type];
  if (publication === null) return [];
  const operation = publication.operation(payment, event);
  if (publication.when?.(operation, event) === false) return [];
  return [{ event, type: publication.type, operation }];
}
