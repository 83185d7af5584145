import { Router, type Request, type RequestHandler } from "express";
import type { LockTimeoutPolicy } from "../../application/ports/lock-timeout";
import { InvalidCursorError } from "../../application/ports/payment-repository";
import { parseSandboxId, type SandboxId } from "../../application/sandboxes/sandbox-ids";
import type { Sandboxes } from "../../application/sandboxes/sandboxes";
import { answerJson } from "./requests/answer";
import { jsonBody } from "./requests/json-body";
import type { Lifecycle } from "./server/lifecycle";
import { pageQuery } from "./endpoints/payments/payment-requests";
import { paymentsRouter } from "./payments-router";
import { presentListed, presentSandbox, presentSnapshot } from "./endpoints/sandboxes/present-sandbox";
import { callerOf } from "./requests/request-context";
import { route } from "./routes";
import { clockRequest, newSandboxRequest } from "./endpoints/sandboxes/sandbox-schemas";
import { validBody, validQuery } from "./requests/validation";

export interface SandboxesRouterParts {
  readonly sandboxes: Pick<
    Sandboxes,
    "create" | "attach" | "use" | "show" | "checkpoint" | "delete" | "list" | "isHere"
  >;
  readonly lockTimeouts: LockTimeoutPolicy;
  readonly lifecycle: Lifecycle;
}

/** Sandboxes, and in each of them the very routes of live payments over its own world. */
export function sandboxesRouter({ sandboxes, lockTimeouts, lifecycle }: SandboxesRouterParts): Router {
  const router = Router();

  const create: RequestHandler = async (request, response) => {
    lifecycle.assertServing();
    const { fromSnapshot } = validBody(newSandboxRequest, request.body);
    const sandbox = await sandboxes.create(callerOf(response).merchant, fromSnapshot);
    response.setHeader("Location", `${request.baseUrl}/${sandbox.id}`);
    answerJson(response, 201, { sandbox: presentSandbox(sandbox) });
  };

  const list: RequestHandler = async (request, response) => {
    const { limit, cursor } = validQuery(pageQuery, request.query);
    const before = cursor === undefined ? {} : { before: cursorOf(cursor) };
    const { data, next } = await sandboxes.list(callerOf(response).merchant, { limit, ...before });
    answerJson(response, 200, {
      data: data.map((manifest) => presentListed(manifest, sandboxes.isHere(manifest.sandboxId))),
      nextCursor: next,
    });
  };

  const show: RequestHandler = async (request, response) => {
    const shown = await sandboxes.show(sandboxIdOf(request), callerOf(response).merchant, presentSandbox);
    answerJson(response, 200, { sandbox: shown });
  };

  const attach: RequestHandler = async (request, response) => {
    lifecycle.assertServing();
    const sandbox = await sandboxes.attach(sandboxIdOf(request), callerOf(response).merchant);
    answerJson(response, 200, { sandbox: presentSandbox(sandbox) });
  };

  const checkpoint: RequestHandler = async (request, response) => {
    lifecycle.assertServing();
    const id = sandboxIdOf(request);
    const snapshot = await sandboxes.checkpoint(id, callerOf(response).merchant);
    answerJson(response, 201, { snapshot: presentSnapshot(id, snapshot) });
  };

  const moveClock: RequestHandler = async (request, response) => {
    lifecycle.assertServing();
    const id = sandboxIdOf(request);
    const { merchant } = callerOf(response);
    const { advanceSeconds, to } = validBody(clockRequest, request.body);
    const wanted = to === undefined ? { advanceMs: (advanceSeconds ?? 0) * 1_000 } : { to };
    await sandboxes.use(id, merchant, (world) => world.moveClock(wanted));
    answerJson(response, 200, { sandbox: await sandboxes.show(id, merchant, presentSandbox) });
  };

  const remove: RequestHandler = async (request, response) => {
    lifecycle.assertServing();
    const id = sandboxIdOf(request);
    await sandboxes.delete(id, callerOf(response).merchant);
    answerJson(response, 200, { deleted: id });
  };

  route(router, "/", { post: [jsonBody, create], get: list });
  route(router, "/:sandboxId", { get: show, delete: remove });
  route(router, "/:sandboxId/attach", { post: attach });
  route(router, "/:sandboxId/checkpoint", { post: checkpoint });
  route(router, "/:sandboxId/clock", { post: [sandboxIdChecked, jsonBody, moveClock] });
  router.use(
    "/:sandboxId/payments",
    sandboxIdChecked,
    paymentsRouter({
      inWorld: (request, response, work) =>
        sandboxes.use(sandboxIdOf(request), callerOf(response).merchant, work),
      lockTimeouts,
      lifecycle,
    }),
  );
  return router;
}

/** Before the body is read, as with every id. */
const sandboxIdChecked: RequestHandler = (request, _response, next) => {
  sandboxIdOf(request);
  next();
};

function sandboxIdOf({ params }: Request): SandboxId {
  const { sandboxId } = params;
  return parseSandboxId(typeof sandboxId === "string" ? sandboxId : "");
}

function cursorOf(cursor: string): SandboxId {
  try {
    return parseSandboxId(cursor);
  } catch {
    throw new InvalidCursorError("this cursor was not made by this list");
  }
}
