import { z } from "zod";
import { actKinds, type AuditEntry, type AuditTrail } from "../../../../application/ports/audit/audit-trail";
import { parsePaymentId } from "../../../../domain/identifiers";
import { answerSchema } from "../../openapi/schema-names";
import { idOut, instantIn, instantOut, text } from "../../requests/wire-values";
import { endpoint } from "../endpoint";
import { pageQuery } from "../page-query";

export interface AuditParts {
  readonly auditTrail: Pick<AuditTrail, "list">;
}

const actor = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("api_key"), id: z.string() }),
  z.strictObject({ type: z.literal("user"), name: z.string() }),
  z.strictObject({ type: z.literal("anyone") }),
]);

const origin = z.discriminatedUnion("over", [
  z.strictObject({ over: z.literal("http"), address: z.string().nullable(), requestId: z.string() }),
  z.strictObject({ over: z.literal("command"), host: z.string() }),
]);

const auditListAnswer = answerSchema(
  "AuditList",
  z.strictObject({
    data: z.array(
      z.strictObject({
        id: idOut,
        at: instantOut,
        kind: z.enum(actKinds),
        actor: actor.meta({
          description:
            "Who: an API key, or a user of the operating system at the command line. `anyone`: no key had ever been created.",
        }),
        origin: origin.meta({
          description: "From where. The address is that of the connection: behind a proxy, the proxy's.",
        }),
        reason: z.string().nullable().meta({
          description:
            "Why, in the person's own words: the evidence of a verdict, else what `Holdfast-Reason` said.",
        }),
        subject: z.string().meta({ description: "What it was done to: the id of an operation, a key, …" }),
        merchant: z.string().nullable(),
        paymentId: idOut.nullable(),
        details: z.record(z.string(), z.unknown()).meta({ description: "Differs by kind." }),
      }),
    ),
    nextCursor: z.string().nullable(),
  }),
);

const auditQuery = pageQuery.extend({
  from: instantIn.optional().meta({ description: "Inclusive." }),
  to: instantIn.optional().meta({ description: "Exclusive." }),
  actor: text(255).optional().meta({ description: "The id of an API key, or the name of a user." }),
  kind: z.enum(actKinds).optional(),
  paymentId: z.uuid().optional(),
});

export const listAudit = endpoint<AuditParts>()({
  method: "get",
  path: "/audit",
  operationId: "listAudit",
  tag: "Audit",
  summary: "List what people did by hand, newest first",
  description:
    "Verdicts, API keys, accounts of merchants, locks that were broken, webhook endpoints, and deliveries that were made once more. " +
    "Each entry was written in one transaction with what it tells of, and is never changed or dropped.",
  access: "operator",
  query: auditQuery,
  answers: { 200: { description: "One page.", schema: auditListAnswer } },
  problems: ["invalid_request"],
  async handle({ query: { paymentId, ...query } }, { auditTrail }) {
    const ofPayment = paymentId === undefined ? {} : { paymentId: parsePaymentId(paymentId) };
    const { data, nextCursor } = await auditTrail.list({ ...query, ...ofPayment });
    return { status: 200, body: { data: data.map(present), nextCursor } };
  },
});

function present({ at, ...entry }: AuditEntry) {
  return { ...entry, at: at.toISOString() };
}
