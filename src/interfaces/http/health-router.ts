import { Router, type RequestHandler } from "express";
import type { Logger } from "pino";
import { z } from "zod";
import { StoreUnavailableError } from "../../application/ports/payment-repository";
import { answerJson, answerProblem } from "./requests/answer";
import type { Lifecycle } from "./server/lifecycle";
import { toldError } from "./problems/problem-details";
import { askAll, troubleInWords, type Probe } from "./endpoints/service/readiness";
import { contextOf } from "./requests/request-context";
import { route } from "./routes";

export const healthyAnswer = z.strictObject({ status: z.literal("ok") });
export const readyAnswer = z.strictObject({
  status: z.literal("ready"),
  dependencies: z.record(z.string(), z.enum(["up", "down"])),
});

export interface HealthParts {
  /** By the name under which an operator knows the dependency: `store`, `locks`, … */
  readonly readiness: Readonly<Record<string, Probe>>;
  readonly lifecycle: Lifecycle;
  readonly logger: Logger;
}

export function healthRouter({ readiness, lifecycle, logger }: HealthParts): Router {
  const router = Router();

  const healthy: RequestHandler = (_request, response) => {
    answerJson(response, 200, { status: "ok" });
  };

  const ready: RequestHandler = async (request, response) => {
    const { requestId } = contextOf(response);
    const answers = await askAll(readiness);
    const dependencies = Object.fromEntries(
      answers.map(([name, down]) => [name, down === null ? "up" : "down"]),
    );
    const down = answers.flatMap(([name, trouble]) => (trouble === null ? [] : [{ name, ...trouble }]));
    for (const { name, error } of down) {
      logger.warn({ err: error, dependency: name, requestId }, "a dependency is down");
    }
    if (lifecycle.isReady && down.length === 0) {
      answerJson(response, 200, { status: "ready", dependencies });
      return;
    }
    const told = toldError(new StoreUnavailableError("not ready"));
    const what = down.map(({ name, reason }) => `${name} ${troubleInWords[reason]}`).join(", ");
    const detail = lifecycle.isReady ? `Not ready: ${what}.` : "The service is shutting down.";
    const reasons = Object.fromEntries(down.map(({ name, reason }) => [name, reason]));
    answerProblem(request, response, { ...told, detail, facts: { dependencies, reasons } });
  };

  route(router, "/healthz", { get: healthy });
  route(router, "/readyz", { get: ready });
  return router;
}
