import { Router, type RequestHandler } from "express";
import { z } from "zod";
import type { LockTimeoutPolicy } from "../../application/ports/lock-timeout";
import type { ReviewCase, ReviewOperations } from "../../application/use-cases/review-operations";
import { parseOperationId } from "../../domain/identifiers";
import { answerJson } from "./answer";
import { asCaller } from "./as-caller";
import { operatorOnly } from "./authentication";
import { jsonBody } from "./json-body";
import type { Lifecycle } from "./lifecycle";
import { operationAnswer, paymentAnswer } from "./payment-answers";
import { pageQuery, reviewRequest } from "./payment-requests";
import { presentOperation, presentPayment } from "./present-payment";
import { route } from "./routes";
import { validBody, validQuery } from "./validation";
import { amountOut, idOut, instantOut } from "./wire-values";
import { withoutUndefined } from "./without-undefined";

export interface ReviewsRouterParts {
  readonly reviewOperations: Pick<ReviewOperations, "list" | "resolve">;
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
      reason: z.string().meta({ description: "Why only a person can decide." }),
      since: instantOut,
      createdAt: instantOut,
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
    const { outcome, evidence, gatewayReference = null } = validBody(reviewRequest, request.body);
    const { payment } = await asCaller(request, response, parts, (caller) =>
      reviewOperations.resolve(operationId, { outcome, evidence, gatewayReference }, caller),
    );
    const operation = payment.must(operationId);
    const answer: z.output<typeof reviewedAnswer> = {
      operation: { kind: operation.kind, ...presentOperation(operation) },
      payment: presentPayment(payment),
    };
    answerJson(response, 200, answer);
  };

  const operationIdChecked: RequestHandler = (request, _response, next) => {
    operationIdOf(request);
    next();
  };

  router.use(operatorOnly);
  route(router, "/", { get: list });
  route(router, "/:operationId", { post: [operationIdChecked, jsonBody, resolve] });
  return router;
}

function operationIdOf({ params }: Parameters<RequestHandler>[0]) {
  const { operationId } = params;
  return parseOperationId(typeof operationId === "string" ? operationId : "");
}

function presentCase(one: ReviewCase): z.output<typeof reviewListAnswer>["data"][number] {
  const { operationId, paymentId, merchant, kind, currency, reason, gatewayKey, authorizationReference } =
    one;
  return {
    operationId,
    paymentId,
    merchant,
    kind,
    amount: Number(one.amount),
    currency,
    reason,
    since: one.since.toISOString(),
    createdAt: one.createdAt.toISOString(),
    gatewayKey,
    authorizationReference,
  };
}
