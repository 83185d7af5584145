import { z } from "zod";
import { answerSchema } from "../../openapi/schema-names";
import { endpoint } from "../endpoint";

const healthyAnswer = answerSchema("Healthy", z.strictObject({ status: z.literal("ok") }));

export const isHealthy = endpoint<object>()({
  method: "get",
  path: "/healthz",
  operationId: "isHealthy",
  tag: "Service",
  summary: "Whether the process answers",
  access: "open",
  answers: { 200: { description: "The process answers.", schema: healthyAnswer } },
  problems: [],
  handle: () => ({ status: 200, body: { status: "ok" } }),
});
