import { z } from "zod";
import { requestSchema } from "../../openapi/schema-names";
import { movement } from "./movement";
import { voidedAnswer } from "./payment-answers";

export const voidPayment = movement({
  name: "void",
  path: "/payments/:paymentId/void",
  operationId: "voidPayment",
  summary: "Release the authorized money, once",
  description: "All of it, before anything is captured. Captured money is returned by a refund.",
  body: requestSchema("VoidRequest", z.strictObject({})),
  done: "Voided.",
  answer: voidedAnswer,
  problems: ["payment_not_voidable", "payment_expired", "void_declined"],
  show: (voiding, payment) => ({ void: voiding, payment }),
  move: (world, command, caller) => world.voidPayment.execute(command, caller),
});
