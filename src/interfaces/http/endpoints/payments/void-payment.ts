import { z } from "zod";
import { requestSchema } from "../../openapi/schema-names";
import { movement } from "./movement";
import { voidedAnswer } from "./payment-answers";

export const voidPayment = movement({
  name: "void",
  path: "/payments/:paymentId/void",
  operationId: "voidPayment",
  summary: "Let go of the reserved money, once",
  description: "All of it, before anything was captured. What was captured is given back by a refund.",
  body: requestSchema("VoidRequest", z.strictObject({})),
  done: "Voided.",
  answer: voidedAnswer,
  problems: ["payment_not_voidable", "payment_expired", "void_declined"],
  move: (world, command, caller) => world.voidPayment.execute(command, caller),
});
