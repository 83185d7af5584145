import { Router, type Request, type RequestHandler, type Response } from "express";
import type { OperationOutcome } from "../../application/operations/operation-outcome";
import type { Caller } from "../../application/operations/through-gateway";
import type { LockTimeoutPolicy } from "../../application/ports/lock-timeout";
import type { AuthorizePayment } from "../../application/use-cases/authorize-payment";
import type { CapturePayment } from "../../application/use-cases/capture-payment";
import type { ReadPayments } from "../../application/use-cases/read-payments";
import { parsePaymentId } from "../../domain/identifiers";
import { isOpen } from "../../domain/operation";
import { answerJson } from "./answer";
import { whileCallerWaits } from "./hang-up";
import { idempotencyKeyOf } from "./idempotency-key";
import { jsonBody } from "./json-body";
import type { Lifecycle } from "./lifecycle";
import { lockBudgetOf } from "./lock-budget";
import { authorizeRequest, captureRequest, listQuery } from "./payment-requests";
import { presentEvent, presentOperation, presentPayment } from "./present-payment";
import { IN_PROGRESS_SECONDS } from "./problem-table";
import { callerOf, contextOf } from "./request-context";
import { route } from "./routes";
import { validBody, validQuery } from "./validation";

/** A world of payments: the service's own, or a sandbox's. */
export interface PaymentUseCases {
  readonly authorizePayment: Pick<AuthorizePayment, "execute">;
  readonly capturePayment: Pick<CapturePayment, "execute">;
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
export function paymentsRouter({ inWorld, lockTimeouts, lifecycle }: PaymentsRouterParts): Router {
  const router = Router({ mergeParams: true });

  const asCaller = <T>(request: Request, response: Response, move: (caller: Caller) => Promise<T>) =>
    whileCallerWaits(response, lifecycle, (signal) => {
      lifecycle.assertServing();
      const { merchant, keyId } = callerOf(response);
      const actor = { apiKey: keyId, requestId: contextOf(response).requestId };
      return move({ merchant, actor, signal, lockTimeout: lockBudgetOf(request, lockTimeouts) });
    });

  const authorize: RequestHandler = async (request, response) => {
    const idempotencyKey = idempotencyKeyOf(request);
    const body = validBody(authorizeRequest, request.body);
    const outcome = await inWorld(request, response, ({ authorizePayment }) =>
      asCaller(request, response, (caller) =>
        authorizePayment.execute(
          {
            idempotencyKey,
            amount: { amount: body.amount, currency: body.currency },
            paymentMethod: body.paymentMethod,
            reference: body.reference ?? null,
            metadata: body.metadata ?? {},
            expiresInSeconds: body.expiresIn,
          },
          caller,
        ),
      ),
    );
    response.setHeader("Location", `${request.baseUrl}/${outcome.payment.id}`);
    answerOutcome(response, outcome, { payment: presentPayment(outcome.payment) });
  };

  const capture: RequestHandler = async (request, response) => {
    const paymentId = paymentIdOf(request);
    const idempotencyKey = idempotencyKeyOf(request);
    const { amount, currency } = validBody(captureRequest, request.body);
    const command = {
      paymentId,
      idempotencyKey,
      ...(amount === undefined ? {} : { amount }),
      ...(currency === undefined ? {} : { currency }),
    };
    const outcome = await inWorld(request, response, ({ capturePayment }) =>
      asCaller(request, response, (caller) => capturePayment.execute(command, caller)),
    );
    answerOutcome(response, outcome, {
      capture: presentOperation(outcome.operation),
      payment: presentPayment(outcome.payment),
    });
  };

  const list: RequestHandler = async (request, response) => {
    const { limit, cursor, status, reference, createdFrom, createdTo } = validQuery(listQuery, request.query);
    const { merchant } = callerOf(response);
    const page = await inWorld(request, response, ({ readPayments }) =>
      readPayments.list({
        merchant,
        limit,
        ...(cursor === undefined ? {} : { cursor }),
        ...(status === undefined ? {} : { status }),
        ...(reference === undefined ? {} : { reference }),
        ...(createdFrom === undefined ? {} : { createdFrom }),
        ...(createdTo === undefined ? {} : { createdTo }),
      }),
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
    const { merchant } = callerOf(response);
    const events = await inWorld(request, response, ({ readPayments }) => readPayments.history(id, merchant));
    answerJson(response, 200, { data: events.map(presentEvent), nextCursor: null });
  };

  route(router, "/", { post: [keyChecked, jsonBody, authorize], get: list });
  route(router, "/:paymentId", { get: show });
  route(router, "/:paymentId/events", { get: history });
  route(router, "/:paymentId/capture", { post: [paymentIdChecked, keyChecked, jsonBody, capture] });
  return router;
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

function paymentIdOf(request: Request) {
  const { paymentId } = request.params;
  return parsePaymentId(typeof paymentId === "string" ? paymentId : "");
}

/** 201 for what has happened; 202 while nobody knows yet, and then the same key asks again. */
function answerOutcome(response: Response, { operation, replayed }: OperationOutcome, body: object): void {
  if (replayed) response.setHeader("Idempotency-Replayed", "true");
  const open = isOpen(operation);
  if (open) response.setHeader("Retry-After", IN_PROGRESS_SECONDS);
  answerJson(response, open ? 202 : 201, body);
}
