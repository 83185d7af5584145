import { Router, type RequestHandler } from "express";
import { z } from "zod";
import type { LockTimeoutPolicy } from "../../application/ports/lock-timeout";
import type { ReviewCase, ReviewOperations } from "../../application/use-cases/review-operations";
import { parseOperationId } from "../../domain/identifiers";
import type { Operation } from "../../domain/operation";
import type { Payment } from "../../domain/payment";
import { answerJson } from "./requests/answer";
import { asCaller } from "./requests/as-caller";
import { operatorOnly } from "./requests/authentication";
import { jsonBody } from "./requests/json-body";
import type { Lifecycle } from "./server/lifecycle";
import { operationAnswer, paymentAnswer, paymentEventAnswer } from "./endpoints/payments/payment-answers";
import { pageQuery, reviewRequest } from "./endpoints/payments/payment-requests";
import { presentEvent, presentOperation, presentPayment } from "./endpoints/payments/present-payment";
import { route } from "./routes";
import { validBody, validQuery } from "./requests/validation";
import { amountOut, idOut, instantOut } from "./requests/wire-values";
import { withoutUndefined } from "./requests/without-undefined";

export interface ReviewsRouterParts {
  readonly reviewOperations: Pick<ReviewOperations, "list" | "one" | "resolve">;
  readonly lockTimeouts: LockTimeoutPolicy;
  readonly lifecycle: Lifecycle;
}

const kind = z.enum(["authorize", "capture", "void", "refund"]);

export const reviewListAnswer = z.strictObject({
  data: z.array(
    z.strictObject({
      operationId: idOut,
      paymentId: idOut,
      merchant: z.string(),
      kind,
      amount: amountOut,
      currency: z.string(),
      currencyExponent: paymentAnswer.shape.currencyExponent,
      status: operationAnswer.shape.status.meta({
        description:
          "What callers are told. One that has ended was contradicted since, and cannot be opened again as things are.",
      }),
      reason: z.string().meta({ description: "Why only a person can decide." }),
      since: instantOut,
      createdAt: instantOut,
      askedAt: instantOut.nullable().meta({ description: "When the gateway was asked about it last." }),
      nextQuestionAt: instantOut.nullable().meta({
        description:
          "When it is asked next. Null where two answers contradict each other: a third decides nothing.",
      }),
      gatewayKey: z.string().meta({ description: "The idempotency key that the gateway was sent." }),
      authorizationReference: z
        .string()
        .nullable()
        .meta({ description: "What the gateway calls the authorization, if it ever said so." }),
    }),
  ),
  nextCursor: z.string().nullable(),
});

export const reviewedAnswer = z.strictObject({
  operation: operationAnswer.extend({ kind }),
  payment: paymentAnswer,
});

export const reviewHistoryAnswer = reviewedAnswer.extend({ events: z.array(paymentEventAnswer) });

/** What waits for a person, whosever payment it is. */
export function reviewsRouter(parts: ReviewsRouterParts): Router {
  const { reviewOperations } = parts;
  const router = Router();

  const list: RequestHandler = async (request, response) => {
    const { data, nextCursor } = await reviewOperations.list(
      withoutUndefined(validQuery(pageQuery, request.query)),
    );
    answerJson(response, 200, { data: data.map(presentCase), nextCursor });
  };

  const resolve: RequestHandler = async (request, response) => {
    const operationId = operationIdOf(request);
    const body = validBody(reviewRequest, request.body);
    const { outcome, evidence, gatewayReference = null, overrideReason = null } = body;
    const verdict = { outcome, evidence, gatewayReference, overrideReason };
    const { payment } = await asCaller(request, response, parts, (caller) =>
      reviewOperations.resolve(operationId, verdict, caller),
    );
    answerJson(response, 200, presentReviewed(payment, payment.must(operationId)));
  };

  const show: RequestHandler = async (request, response) => {
    const { payment, operation, events } = await reviewOperations.one(operationIdOf(request));
    const answer: z.output<typeof reviewHistoryAnswer> = {
      ...presentReviewed(payment, operation),
      events: events.map(presentEvent),
    };
    answerJson(response, 200, answer);
  };

  const operationIdChecked: RequestHandler = (request, _response, next) => {
    operationIdOf(request);
    next();
  };

  router.use(operatorOnly);
  route(router, "/", { get: list });
  route(router, "/:operationId", {
    get: show,
    post: [operationIdChecked, jsonBody, resolve],
  });
  return router;
}

function operationIdOf({ params }: Parameters<RequestHandler>[0]) {
  const { operationId } = params;
  return parseOperationId(typeof operationId === "string" ? operationId : "");
}

function presentReviewed(payment: Payment, operation: Operation): z.output<typeof reviewedAnswer> {
  return {
    operation: { kind: operation.kind, ...presentOperation(operation) },
    payment: presentPayment(payment),
  };
}

function presentCase(one: ReviewCase): z.output<typeof reviewListAnswer>["data"][number] {
  const { operationId, paymentId, merchant, kind, currency, reason, gatewayKey, authorizationReference } =
    one;
  const { askedAt, dueAt } = one.operation;
  return {
    operationId,
    paymentId,
    merchant,
    kind,
    amount: Number(one.amount),
    currency,
    currencyExponent: one.currencyExponent,
    status: presentOperation(one.operation).status,
    reason,
    since: one.since.toISOString(),
    createdAt: one.createdAt.toISOString(),
    askedAt: askedAt?.toISOString() ?? null,
    nextQuestionAt: dueAt?.toISOString() ?? null,
    gatewayKey,
    authorizationReference,
  };
}
