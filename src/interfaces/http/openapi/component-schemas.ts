import { z } from "zod";
import { gatewayMovesAnswer, observedAnswer } from "../gateway-router";
import { lockListAnswer } from "../locks-router";
import { healthyAnswer, readyAnswer } from "../health-router";
import {
  capturedAnswer,
  eventListAnswer,
  onePaymentAnswer,
  operationAnswer,
  paymentAnswer,
  paymentEventAnswer,
  paymentListAnswer,
  refundedAnswer,
  voidedAnswer,
} from "../endpoints/payments/payment-answers";
import {
  authorizeRequest,
  captureRequest,
  importRequest,
  newPaymentRequest,
  refundRequest,
  reviewRequest,
  voidRequest,
} from "../endpoints/payments/payment-requests";
import { reviewedAnswer, reviewHistoryAnswer, reviewListAnswer } from "../reviews-router";
import {
  clockRequest,
  deletedSandboxAnswer,
  newSandboxRequest,
  oneSandboxAnswer,
  oneSnapshotAnswer,
  sandboxAnswer,
  sandboxListAnswer,
} from "../endpoints/sandboxes/sandbox-schemas";
import { problemAnswer } from "../problems/problem-schema";

/** The very schemas that validate requests; in the document as they come over the wire. */
const requests = {
  AuthorizeRequest: authorizeRequest,
  ImportRequest: importRequest,
  NewPaymentRequest: newPaymentRequest,
  CaptureRequest: captureRequest,
  VoidRequest: voidRequest,
  RefundRequest: refundRequest,
  ReviewRequest: reviewRequest,
  NewSandboxRequest: newSandboxRequest,
  ClockRequest: clockRequest,
};

const answers = {
  Operation: operationAnswer,
  Payment: paymentAnswer,
  PaymentEvent: paymentEventAnswer,
  OnePayment: onePaymentAnswer,
  Captured: capturedAnswer,
  Voided: voidedAnswer,
  Refunded: refundedAnswer,
  ReviewList: reviewListAnswer,
  Reviewed: reviewedAnswer,
  ReviewHistory: reviewHistoryAnswer,
  PaymentList: paymentListAnswer,
  EventList: eventListAnswer,
  Sandbox: sandboxAnswer,
  OneSandbox: oneSandboxAnswer,
  OneSnapshot: oneSnapshotAnswer,
  SandboxList: sandboxListAnswer,
  DeletedSandbox: deletedSandboxAnswer,
  GatewayMoves: gatewayMovesAnswer,
  Observed: observedAnswer,
  LockList: lockListAnswer,
  Healthy: healthyAnswer,
  Ready: readyAnswer,
  Problem: problemAnswer,
};

export type SchemaName = keyof typeof requests | keyof typeof answers;
export interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly [keyword: string]: unknown;
}

export function componentSchemas(): Record<string, JsonSchema> {
  return { ...jsonSchemas(requests, "input"), ...jsonSchemas(answers, "output") };
}

/** One schema on its own, such as a query's. */
export function jsonSchemaOf(schema: z.ZodType): JsonSchema {
  return withoutEnvelope(z.toJSONSchema(schema, { io: "input", override: readable }));
}

export function schemaReference(name: SchemaName): JsonSchema {
  return { $ref: `#/components/schemas/${name}` };
}

function jsonSchemas(
  schemas: Readonly<Record<string, z.ZodType>>,
  io: "input" | "output",
): Record<string, JsonSchema> {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id });
  const made = z.toJSONSchema(registry, {
    io,
    uri: (id) => `#/components/schemas/${id}`,
    override: readable,
  });
  return Object.fromEntries(
    Object.entries(made.schemas).map(([id, schema]) => [id, withoutEnvelope(schema)]),
  );
}

/** A format says what its pattern spells out in two hundred characters. */
function readable({ jsonSchema }: { jsonSchema: { format?: unknown; pattern?: unknown } }): void {
  if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
}

function withoutEnvelope(schema: object): JsonSchema {
  const { $schema, $id, ...rest } = schema as JsonSchema;
  return rest;
}
