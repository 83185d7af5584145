import { Router, type Request, type RequestHandler, type Response } from "express";
import type { OperationOutcome } from "../../application/operations/operation-outcome";
import type { Caller } from "../../application/operations/through-gateway";
import type { LockTimeoutPolicy } from "../../application/ports/lock-timeout";
import type { AuthorizePayment } from "../../application/use-cases/authorize-payment";
import type { CapturePayment } from "../../application/use-cases/capture-payment";
import type { ImportAuthorization } from "../../application/use-cases/import-authorization";
import type { ReadPayments } from "../../application/use-cases/read-payments";
import type { RefundPayment } from "../../application/use-cases/refund-payment";
import type { VoidPayment } from "../../application/use-cases/void-payment";
import { parsePaymentId, type IdempotencyKey } from "../../domain/identifiers";
import { money } from "../../domain/money";
import { isOpen } from "../../domain/operation";
import { answerJson } from "./requests/answer";
import { asCaller } from "./requests/as-caller";
import { idempotencyKeyOf } from "./requests/idempotency-key";
import { jsonBody } from "./requests/json-body";
import type { Lifecycle } from "./server/lifecycle";
import {
  authorizeRequest,
  captureRequest,
  importRequest,
  eventQuery,
  listQuery,
  refundRequest,
  voidRequest,
} from "./endpoints/payments/payment-requests";
import { presentEvent, presentEventToMerchant, presentOperation, presentPayment } from "./endpoints/payments/present-payment";
import { IN_PROGRESS_SECONDS } from "./problems/problem-table";
import { callerOf } from "./requests/request-context";
import { route } from "./routes";
import { validBody, validQuery } from "./requests/validation";
import { withoutUndefined } from "./requests/without-undefined";

/** A world of payments: the service's own, or a sandbox's. */
export interface PaymentUseCases {
  readonly authorizePayment: Pick<AuthorizePayment, "execute">;
  readonly importAuthorization: Pick<ImportAuthorization, "execute">;
  readonly capturePayment: Pick<CapturePayment, "execute">;
  readonly voidPayment: Pick<VoidPayment, "execute">;
  readonly refundPayment: Pick<RefundPayment, "execute">;
  readonly readPayments: Pick<ReadPayments, "one" | "list" | "history">;
}

export interface PaymentsRouterParts {
  /** Lends the use cases of the world that the request means, for as long as the work takes. */
  readonly inWorld: <T>(
    request: Request,
    response: Response,
    work: (world: PaymentUseCases) => Promise<T>,
  ) => Promise<T>;
  readonly lockTimeouts: LockTimeoutPolicy;
  readonly lifecycle: Lifecycle;
}

/** The payments routes of one world. In each the order of the checks is that of the published table. */
export function paymentsRouter(parts: PaymentsRouterParts): Router {
  const { inWorld } = parts;
  const router = Router({ mergeParams: true });

  const moves = (
    request: Request,
    response: Response,
    move: (world: PaymentUseCases, caller: Caller) => Promise<OperationOutcome>,
  ) =>
    inWorld(request, response, (world) =>
      asCaller(request, response, parts, (caller) => move(world, caller)),
    );

  const begin: RequestHandler = async (request, response) => {
    const idempotencyKey = idempotencyKeyOf(request);
    const outcome = await moves(
      request,
      response,
      isImport(request.body)
        ? importing(request.body, idempotencyKey)
        : authorizing(request.body, idempotencyKey),
    );
    response.setHeader("Location", `${request.baseUrl}/${outcome.payment.id}`);
    answerOutcome(response, outcome, { payment: presentPayment(outcome.payment) });
  };

  const capture: RequestHandler = async (request, response) => {
    const target = targetOf(request);
    const command = { ...target, ...withoutUndefined(validBody(captureRequest, request.body)) };
    const outcome = await moves(request, response, ({ capturePayment }, caller) =>
      capturePayment.execute(command, caller),
    );
    answerMovement(response, "capture", outcome);
  };

  const release: RequestHandler = async (request, response) => {
    const target = targetOf(request);
    validBody(voidRequest, request.body);
    const outcome = await moves(request, response, ({ voidPayment }, caller) =>
      voidPayment.execute(target, caller),
    );
    answerMovement(response, "void", outcome);
  };

  const refund: RequestHandler = async (request, response) => {
    const target = targetOf(request);
    const command = { ...target, ...withoutUndefined(validBody(refundRequest, request.body)) };
    const outcome = await moves(request, response, ({ refundPayment }, caller) =>
      refundPayment.execute(command, caller),
    );
    answerMovement(response, "refund", outcome);
  };

  const list: RequestHandler = async (request, response) => {
    const query = withoutUndefined(validQuery(listQuery, request.query));
    const { merchant } = callerOf(response);
    const page = await inWorld(request, response, ({ readPayments }) =>
      readPayments.list({ ...query, merchant }),
    );
    answerJson(response, 200, { data: page.data.map(presentPayment), nextCursor: page.nextCursor });
  };

  const show: RequestHandler = async (request, response) => {
    const id = paymentIdOf(request);
    const { merchant } = callerOf(response);
    const payment = await inWorld(request, response, ({ readPayments }) => readPayments.one(id, merchant));
    answerJson(response, 200, { payment: presentPayment(payment) });
  };

  const history: RequestHandler = async (request, response) => {
    const id = paymentIdOf(request);
    const query = withoutUndefined(validQuery(eventQuery, request.query));
    const { merchant, operator } = callerOf(response);
    const page = await inWorld(request, response, ({ readPayments }) =>
      readPayments.history(id, merchant, query),
    );
    const present = operator ? presentEvent : presentEventToMerchant;
    answerJson(response, 200, { data: page.data.map(present), nextCursor: page.nextCursor });
  };

  const movement = (handler: RequestHandler) => ({ post: [paymentIdChecked, keyChecked, jsonBody, handler] });
  route(router, "/", { post: [keyChecked, jsonBody, begin], get: list });
  route(router, "/:paymentId", { get: show });
  route(router, "/:paymentId/events", { get: history });
  route(router, "/:paymentId/capture", movement(capture));
  route(router, "/:paymentId/void", movement(release));
  route(router, "/:paymentId/refunds", movement(refund));
  return router;
}

function isImport(body: unknown): boolean {
  return typeof body === "object" && body !== null && "gatewayReference" in body;
}

function authorizing(sent: unknown, idempotencyKey: IdempotencyKey) {
  const body = validBody(authorizeRequest, sent);
  const command = {
    idempotencyKey,
    amount: money(body.amount, body.currency),
    paymentMethod: body.paymentMethod,
    reference: body.reference ?? null,
    metadata: body.metadata ?? {},
    expiresInSeconds: body.expiresIn,
  };
  return ({ authorizePayment }: PaymentUseCases, caller: Caller) => authorizePayment.execute(command, caller);
}

function importing(sent: unknown, idempotencyKey: IdempotencyKey) {
  const body = validBody(importRequest, sent);
  const command = {
    idempotencyKey,
    gatewayReference: body.gatewayReference,
    reference: body.reference ?? null,
    metadata: body.metadata ?? {},
    expiresInSeconds: body.expiresIn ?? null,
  };
  return ({ importAuthorization }: PaymentUseCases, caller: Caller) =>
    importAuthorization.execute(command, caller);
}

/** Before the body is read, because it comes before the body in the table. */
const paymentIdChecked: RequestHandler = (request, _response, next) => {
  paymentIdOf(request);
  next();
};

const keyChecked: RequestHandler = (request, _response, next) => {
  idempotencyKeyOf(request);
  next();
};

function targetOf(request: Request) {
  return { paymentId: paymentIdOf(request), idempotencyKey: idempotencyKeyOf(request) };
}

function paymentIdOf(request: Request) {
  const { paymentId } = request.params;
  return parsePaymentId(typeof paymentId === "string" ? paymentId : "");
}

function answerMovement(
  response: Response,
  name: "capture" | "void" | "refund",
  outcome: OperationOutcome,
): void {
  answerOutcome(response, outcome, {
    [name]: presentOperation(outcome.operation),
    payment: presentPayment(outcome.payment),
  });
}

/** 201 for what has happened; 202 while nobody knows yet, and then the same key asks again. */
function answerOutcome(response: Response, { operation, replayed }: OperationOutcome, body: object): void {
  if (replayed) response.setHeader("Idempotency-Replayed", "true");
  const open = isOpen(operation);
  if (open) response.setHeader("Retry-After", IN_PROGRESS_SECONDS);
  answerJson(response, open ? 202 : 201, body);
}
