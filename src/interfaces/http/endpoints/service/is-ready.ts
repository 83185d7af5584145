import type { Logger } from "pino";
import { z } from "zod";
import { StoreUnavailableError } from "../../../../application/ports/payment-repository";
import { answerSchema } from "../../openapi/schema-names";
import { toldError } from "../../problems/problem-details";
import { contextOf } from "../../requests/request-context";
import type { Lifecycle } from "../../server/lifecycle";
import { endpoint } from "../endpoint";
import { askAll, troubleInWords, type Probe } from "./readiness";

export interface ReadinessParts {
  /** By the name under which an operator knows the dependency: `store`, `locks`, … */
  readonly readiness: Readonly<Record<string, Probe>>;
  readonly lifecycle: Lifecycle;
  readonly logger: Logger;
}

const readyAnswer = answerSchema(
  "Ready",
  z.strictObject({
    status: z.literal("ready"),
    dependencies: z.record(z.string(), z.enum(["up", "down"])),
  }),
);

export const isReady = endpoint<ReadinessParts>()({
  method: "get",
  path: "/readyz",
  operationId: "isReady",
  tag: "Service",
  summary: "Whether this instance can serve requests, and which dependency is down if not",
  access: "open",
  answers: { 200: { description: "Ready.", schema: readyAnswer } },
  problems: ["service_unavailable"],
  async handle({ response }, { readiness, lifecycle, logger }) {
    const { requestId } = contextOf(response);
    const answers = await askAll(readiness);
    const dependencies = Object.fromEntries(
      answers.map(([name, down]) => [name, down === null ? ("up" as const) : ("down" as const)]),
    );
    const down = answers.flatMap(([name, trouble]) => (trouble === null ? [] : [{ name, ...trouble }]));
    for (const { name, error } of down) {
      logger.warn({ err: error, dependency: name, requestId }, "a dependency is down");
    }
    if (lifecycle.isReady && down.length === 0) {
      return { status: 200, body: { status: "ready", dependencies } };
    }
    const told = toldError(new StoreUnavailableError("not ready"));
    const what = down.map(({ name, reason }) => `${name} ${troubleInWords[reason]}`).join(", ");
    const detail = lifecycle.isReady ? `Not ready: ${what}.` : "The service is shutting down.";
    const reasons = Object.fromEntries(down.map(({ name, reason }) => [name, reason]));
    return { problem: { ...told, detail, facts: { dependencies, reasons } } };
  },
});
