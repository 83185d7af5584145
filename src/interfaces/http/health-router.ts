import { Router, type RequestHandler } from "express";
import type { Logger } from "pino";
import { z } from "zod";
import { StoreUnavailableError } from "../../application/ports/payment-repository";
import { answerJson, answerProblem } from "./answer";
import type { Lifecycle } from "./lifecycle";
import { toldError } from "./problem-details";
import { contextOf } from "./request-context";
import { route } from "./routes";

/** Rejects when what it asks does not answer. */
export type Probe = () => Promise<void>;

export const healthyAnswer = z.strictObject({ status: z.literal("ok") });
export const readyAnswer = z.strictObject({
  status: z.literal("ready"),
  dependencies: z.record(z.string(), z.enum(["up", "down"])),
});

/** A dependency that is asked for longer than this is down for all who would have to wait for it. */
const PROBE_TIMEOUT_MS = 2_000;

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
    const asked = Object.entries(readiness).map(async ([name, probe]) => {
      try {
        await withinTime(probe);
        return [name, "up"] as const;
      } catch (error) {
        logger.warn({ err: error, dependency: name, requestId }, "a dependency is down");
        return [name, "down"] as const;
      }
    });
    const dependencies = Object.fromEntries(await Promise.all(asked));
    const down = Object.keys(dependencies).filter((name) => dependencies[name] === "down");
    if (lifecycle.isReady && down.length === 0) {
      answerJson(response, 200, { status: "ready", dependencies });
      return;
    }
    const told = toldError(new StoreUnavailableError("not ready"));
    const detail = lifecycle.isReady ? `Not answering: ${down.join(", ")}.` : "The service is shutting down.";
    answerProblem(request, response, { ...told, detail, facts: { dependencies } });
  };

  route(router, "/healthz", { get: healthy });
  route(router, "/readyz", { get: ready });
  return router;
}

async function withinTime(probe: Probe): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${PROBE_TIMEOUT_MS} ms`)), PROBE_TIMEOUT_MS);
  });
  try {
    await Promise.race([probe(), late]);
  } finally {
    clearTimeout(timer);
  }
}
