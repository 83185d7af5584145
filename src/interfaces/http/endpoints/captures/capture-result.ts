import { z } from "zod";
import type { OperationOutcome } from "../../../../application/operations/operation-outcome";
import { publicOperation, publicPayment } from "../../../../application/public-events/public-payment";
import { answerSchema } from "../../openapi/schema-names";
import { problemAnswer } from "../../problems/problem-answer";
import { headersOfProblem, problemDetails, problemJson, toldError } from "../../problems/problem-details";
import { statusAndHeaders } from "../payments/movement";
import { capturedAnswer } from "../payments/payment-answers";

const captureResult = answerSchema(
  "CaptureResult",
  z.strictObject({
    status: z.int().meta({ description: "As `POST /payments/{paymentId}/capture` would have answered." }),
    headers: z
      .strictObject({
        "Idempotency-Replayed": z.literal("true").optional(),
        "Retry-After": z.int().optional().meta({ description: "In seconds." }),
      })
      .meta({ description: "Those of that answer that say what to do next." }),
    body: z.union([capturedAnswer, problemAnswer]),
  }),
);

export const capturesAnswer = answerSchema(
  "CaptureResults",
  z.strictObject({
    results: z
      .array(captureResult)
      .meta({ description: "One for each capture, in the order of the request." }),
  }),
);

export type CaptureResult = z.output<typeof captureResult>;

export function resultOf(outcome: OperationOutcome): CaptureResult {
  const { operation, payment } = outcome;
  const { status, headers } = statusAndHeaders(outcome);
  return {
    status,
    headers,
    body: { capture: publicOperation(operation), payment: publicPayment(payment) },
  };
}

/** `path` and `requestId`: of the request that all of them came in. */
export function refusalOf(error: unknown, path: string, requestId: string): CaptureResult {
  const told = toldError(error);
  const problem = problemDetails(told, path, requestId);
  return {
    status: problem.status,
    headers: headersOfProblem(told),
    // By way of its JSON: amounts among the facts are bigints.
    body: JSON.parse(problemJson(problem)) as z.output<typeof problemAnswer>,
  };
}
