import { requestSchema } from "../../openapi/schema-names";
import { movement } from "./movement";
import { refundedAnswer } from "./payment-answers";
import { partOfAmount } from "./part-of-amount";

export const refundPayment = movement({
  name: "refund",
  path: "/payments/:paymentId/refunds",
  operationId: "refundPayment",
  summary: "Return captured money, in full or in parts",
  description:
    "As often as you like, each time with a new key, until everything captured is returned. " +
    "Without an amount, everything that is left.",
  body: requestSchema("RefundRequest", partOfAmount()),
  done: "Refunded.",
  answer: refundedAnswer,
  problems: ["payment_not_refundable", "amount_exceeds_captured", "currency_mismatch", "refund_declined"],
  show: (refund, payment) => ({ refund, payment }),
  move: (world, command, caller) => world.refundPayment.execute(command, caller),
});
