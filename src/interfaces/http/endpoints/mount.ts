import type { Request, RequestHandler, Response, Router } from "express";
import { parseSandboxId } from "../../../application/sandboxes/sandbox-ids";
import { isAccountName } from "../../../application/ports/accounts/merchant-account-store";
import { parseOperationId, parsePaymentId, type IdempotencyKey } from "../../../domain/identifiers";
import { parseWebhookDeliveryId, parseWebhookEndpointId } from "../../../domain/webhooks/webhook-endpoint";
import { RequestError } from "../problems/request-error";
import { answerJson, answerProblem, answerText } from "../requests/answer";
import { answerStream } from "../requests/answer-stream";
import { reasonOf } from "../requests/audit/act-behind";
import { operatorOnly } from "../requests/authentication";
import { idempotencyKeyOf } from "../requests/idempotency-key";
import { keepProblemPage } from "../requests/problem-page";
import { jsonBody } from "../requests/json-body";
import { validBody, validQuery } from "../requests/validation";
import { withoutUndefined } from "../requests/without-undefined";
import type { Endpoint, PathIds, Reply } from "./endpoint";

const parsers: { readonly [Name in keyof PathIds]: (value: string) => PathIds[Name] } = {
  paymentId: parsePaymentId,
  operationId: parseOperationId,
  sandboxId: parseSandboxId,
  webhookEndpointId: parseWebhookEndpointId,
  webhookDeliveryId: parseWebhookDeliveryId,
  gatewayAccount: (name) => {
    if (isAccountName(name)) return name;
    throw new RequestError("route_not_found", "There is no such route.");
  },
};

/** What is checked before the body is read, because it comes before the body in the published table. */
interface Checked {
  readonly ids: Partial<PathIds>;
  readonly key: IdempotencyKey | null;
}

/**
 * Adds the endpoints to a router, in each the checks in the order of the published table: caller, ids, key, body, query.
 * Every other method of their paths is answered with 405 and the list of these.
 */
export function mount<Parts>(
  router: Router,
  endpoints: readonly Endpoint<Parts>[],
  parts: Parts,
  knowCaller: RequestHandler,
): void {
  guard(router, endpoints, knowCaller);
  for (const path of new Set(endpoints.map((one) => one.path))) {
    const here = endpoints.filter((one) => one.path === path);
    const added = router.route(path);
    for (const one of here) added[one.method](...handlers(one, parts));
    added.all(onlyThese(here.map(({ method }) => method)));
  }
}

/** For paths that are no endpoints, such as the files of a page. */
export function onlyThese(methods: readonly Endpoint<never>["method"][]): RequestHandler {
  const allow = methods.flatMap((method) => (method === "get" ? ["GET", "HEAD"] : [method.toUpperCase()]));
  return () => {
    throw new RequestError("method_not_allowed", `This route supports ${allow.join(", ")}.`, { allow });
  };
}

/** By first segment, so that also what is no endpoint below it says nothing to a stranger. */
function guard(router: Router, endpoints: readonly Endpoint<never>[], knowCaller: RequestHandler): void {
  const accesses = new Map(endpoints.map(({ path, access }) => [`/${path.split("/")[1]}`, access]));
  for (const { path, access } of endpoints) {
    if (accesses.get(`/${path.split("/")[1]}`) !== access) throw new Error(`${path} differs in its access`);
  }
  for (const [prefix, access] of accesses) {
    if (access === "merchant") router.use(prefix, knowCaller);
    if (access === "operator") router.use(prefix, knowCaller, operatorOnly);
  }
}

function handlers<Parts>(one: Endpoint<Parts>, parts: Parts): RequestHandler[] {
  const names = [...one.path.matchAll(/:(\w+)/g)].map(([, name]) => name as keyof PathIds);
  const check: RequestHandler = (request, response, next) => {
    keepProblemPage(response, one.problemPage);
    const ids = Object.fromEntries(names.map((name) => [name, parsers[name](parameter(request, name))]));
    if (one.audited === true) reasonOf(request);
    const key = one.movesMoney === true ? idempotencyKeyOf(request) : null;
    response.locals["checked"] = { ids, key } satisfies Checked;
    next();
  };
  const answer: RequestHandler = async (request, response) => {
    const { ids, key } = response.locals["checked"] as Checked;
    const body = bodyOf(one, request);
    const query =
      one.query === undefined ? {} : withoutUndefined(validQuery(one.query, request.query, one.queryCodes));
    await send(request, response, await one.handle({ request, response, ids, key, body, query }, parts));
  };
  return one.body === undefined ? [check, answer] : [check, jsonBody(one.bodyLimitBytes), answer];
}

function bodyOf({ body, bodyFor }: Endpoint<never>, request: Request): unknown {
  if (body === undefined) return undefined;
  const sent: unknown = request.body;
  return withoutUndefined(validBody(bodyFor?.(sent) ?? body, sent) as object);
}

function parameter({ params }: Request, name: string): string {
  const value = params[name];
  return typeof value === "string" ? value : "";
}

async function send(request: Request, response: Response, reply: Reply): Promise<void> {
  if ("problem" in reply) {
    answerProblem(request, response, reply.problem);
  } else if ("text" in reply) {
    answerText(response, reply.status, reply.contentType, reply.text);
  } else if ("chunks" in reply) {
    await answerStream(response, reply.contentType, reply.chunks).finally(reply.end);
  } else {
    for (const [name, value] of Object.entries(reply.headers ?? {})) response.setHeader(name, value);
    answerJson(response, reply.status, reply.body);
  }
}
