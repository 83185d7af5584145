import type { z } from "zod";
import type { OperationOutcome } from "../../../../application/operations/operation-outcome";
import type { Caller } from "../../../../application/operations/caller";
import type { IdempotencyKey, PaymentId } from "../../../../domain/identifiers";
import {
  publicOperation,
  publicPayment,
  type PublicOperation,
  type PublicPayment,
} from "../../../../application/public-events/public-payment";
import { isOpen } from "../../../../domain/payment/operation";
import { IN_PROGRESS_SECONDS, PENDING_SECONDS, type ProblemCode } from "../../problems/problem-table";
import { asCaller } from "../../requests/as-caller";
import type { Given } from "../../requests/without-undefined";
import { endpoint, type Asked, type DocumentedEndpoint, type Endpoint } from "../endpoint";
import type { PaymentParts, PaymentWorld } from "./payment-parts";

export const keyProblems: readonly ProblemCode[] = [
  "idempotency_key_required",
  "invalid_idempotency_key",
  "idempotency_key_reused",
];

export const lockProblems: readonly ProblemCode[] = [
  "lock_timeout",
  "idempotency_key_in_use",
  "lock_unavailable",
  "lock_lost",
];

const inProgress: readonly ProblemCode[] = [
  "authorize_in_progress",
  "capture_in_progress",
  "void_in_progress",
  "refund_in_progress",
  "payment_busy",
];

interface Movement<Body extends z.ZodType, Answer extends z.ZodType> extends Pick<
  DocumentedEndpoint,
  "operationId" | "summary" | "description" | "problems"
> {
  /** Its name in the description of a 202. */
  readonly name: "capture" | "void" | "refund";
  readonly path: `/payments/:paymentId/${string}`;
  readonly body: Body;
  /** What a 201 says. */
  readonly done: string;
  readonly answer: Answer;
  readonly show: (operation: PublicOperation, payment: PublicPayment) => z.output<Answer>;
  readonly move: (
    world: PaymentWorld,
    command: Given<z.output<Body>> & {
      readonly paymentId: PaymentId;
      readonly idempotencyKey: IdempotencyKey;
    },
    caller: Caller,
  ) => Promise<OperationOutcome>;
}

/** An endpoint that moves money of an existing payment: capture, void and refund differ in what is said here alone. */
export function movement<Body extends z.ZodType<object>, Answer extends z.ZodType>({
  name,
  done,
  answer,
  show,
  move,
  problems,
  ...rest
}: Movement<Body, Answer>): Endpoint<PaymentParts> {
  return endpoint<PaymentParts>()({
    ...rest,
    method: "post",
    tag: "Payments",
    access: "merchant",
    movesMoney: true,
    answers: {
      201: { description: done, schema: answer, headers: ["Idempotency-Replayed"] },
      202: {
        description:
          `The gateway has not confirmed the outcome yet: the ${name} is \`unknown\`, or \`pending\` if the gateway has ` +
          "taken the order and decides later. Repeat the request with the same key: what is `pending` is never sent again.",
        schema: answer,
        headers: ["Retry-After"],
      },
    },
    problems: [
      "invalid_payment_id",
      ...keyProblems,
      ...lockProblems,
      "payment_not_found",
      ...inProgress,
      ...problems,
      "gateway_unavailable",
      "gateway_access_refused",
    ],
    async handle(asked, parts) {
      const { ids, key, body } = asked;
      const command = { ...ids, idempotencyKey: key, ...body };
      const outcome = await asCallerInWorld(asked, parts, (world, caller) => move(world, command, caller));
      const { operation, payment } = outcome;
      return { ...statusAndHeaders(outcome), body: show(publicOperation(operation), publicPayment(payment)) };
    },
  });
}

export function asCallerInWorld(
  { request, response }: Pick<Asked, "request" | "response">,
  parts: PaymentParts,
  move: (world: PaymentWorld, caller: Caller) => Promise<OperationOutcome>,
): Promise<OperationOutcome> {
  return parts.inWorld((world) => asCaller(request, response, parts, (caller) => move(world, caller)));
}

/**
 * 201 for what has happened, and for a payment that its customer goes on with; 202 while nobody knows yet, and then the same
 * key asks again.
 */
export function statusAndHeaders({ operation, replayed }: OperationOutcome) {
  const stored = replayed ? { "Idempotency-Replayed": "true" as const } : {};
  const isAnswered = !isOpen(operation) || operation.status === "requires_action";
  if (isAnswered) return { status: 201 as const, headers: stored };
  const seconds = operation.status === "pending" ? PENDING_SECONDS : IN_PROGRESS_SECONDS;
  return { status: 202 as const, headers: { ...stored, "Retry-After": seconds } };
}
