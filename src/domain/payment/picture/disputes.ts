import type { PaymentEventType } from "../events";
import type { Payment } from "../payment";
import { recorded } from "../record/recorded";
import type { Step } from "../step";
import type { GatewayPicture, SeenDispute } from "./gateway-picture";

const isClosed = ({ status }: SeenDispute) => status === "won" || status === "lost" || status === "closed";

/** Takes over what the gateway says about disputes. One that it no longer shows stays as it was. */
export function withDisputes(payment: Payment, { disputes }: GatewayPicture, step: Step): Payment {
  return disputes.reduce((now, dispute) => withDispute(now, dispute, step), payment);
}

function withDispute(payment: Payment, seen: SeenDispute, step: Step): Payment {
  const known = payment.facts.disputes.find(({ id }) => id === seen.id);
  const news = newsOf(known, seen);
  if (news.length === 0) return payment;
  const { id, status, reason } = seen;
  const told = {
    disputeId: id,
    status,
    amount: Number(seen.amount),
    reason,
    dueBy: seen.dueBy?.toISOString() ?? null,
  };
  const disputes =
    known === undefined
      ? [...payment.facts.disputes, seen]
      : payment.facts.disputes.map((one) => (one === known ? seen : one));
  const change = {
    row: null,
    status: payment.facts.status,
    facts: { disputes },
    history: news.map((type) => [type, told] as const),
  };
  return recorded(payment, change, step);
}

/** One that is over when it is first heard of was opened, too. */
function newsOf(known: SeenDispute | undefined, seen: SeenDispute): readonly PaymentEventType[] {
  if (known === undefined) return isClosed(seen) ? ["dispute.opened", "dispute.closed"] : ["dispute.opened"];
  if (isSame(known, seen)) return [];
  return [isClosed(seen) && !isClosed(known) ? "dispute.closed" : "dispute.updated"];
}

function isSame(one: SeenDispute, other: SeenDispute): boolean {
  return (
    one.status === other.status &&
    one.amount === other.amount &&
    one.reason === other.reason &&
    one.dueBy?.getTime() === other.dueBy?.getTime()
  );
}
