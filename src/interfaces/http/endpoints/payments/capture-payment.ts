import { requestSchema } from "../../openapi/schema-names";
import { movement } from "./movement";
import { capturedAnswer } from "./payment-answers";
import { partOfAmount } from "./part-of-amount";

export const capturePayment = movement({
  name: "capture",
  path: "/payments/:paymentId/capture",
  operationId: "capturePayment",
  summary: "Capture the money, once",
  description:
    "All of the authorized amount, or less; the rest is released. Requests with the same key all get the same answer; " +
    "of requests with different keys, one captures.",
  body: requestSchema("CaptureRequest", partOfAmount()),
  done: "Captured.",
  answer: capturedAnswer,
  problems: [
    "payment_already_captured",
    "payment_not_capturable",
    "payment_expired",
    "amount_exceeds_authorized",
    "currency_mismatch",
    "capture_declined",
  ],
  show: (capture, payment) => ({ capture, payment }),
  move: (world, command, caller) => world.capturePayment.execute(command, caller),
});
