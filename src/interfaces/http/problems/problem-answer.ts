import { z } from "zod";
import { answerSchema } from "../openapi/schema-names";
import { problemCodes, type ProblemCode } from "./problem-table";
import { amountOut, instantOut } from "../requests/wire-values";

/** RFC 9457, with the facts that some problems carry. */
export const problemAnswer = answerSchema(
  "Problem",
  z
    .looseObject({
      type: z.string().meta({ description: "A URI that identifies the kind of problem." }),
      title: z.string(),
      status: z.int(),
      detail: z.string().meta({ description: "For people to read; the wording may change." }),
      instance: z.string().meta({ description: "The path of the request." }),
      code: z
        .enum(problemCodes as [ProblemCode, ...ProblemCode[]])
        .meta({ description: "For programs; its meaning never changes." }),
      retryable: z.boolean().meta({ description: "Whether the same request, unchanged, may succeed later." }),
      requestId: z.string().meta({ description: "Identifies the request in the server's log." }),
      errors: z
        .array(
          z.strictObject({
            pointer: z.string().optional(),
            parameter: z.string().optional(),
            detail: z.string(),
          }),
        )
        .optional()
        .meta({ description: "Each invalid part, by JSON pointer into the body or by query parameter." }),
      paymentId: z.string().optional(),
      paymentStatus: z.string().optional(),
      operationId: z.string().optional(),
      operationStatus: z.string().optional(),
      gatewayReference: z.string().optional(),
      maxAmount: amountOut.optional(),
      currency: z.string().optional(),
      expiresAt: instantOut.optional(),
      reason: z.string().optional().meta({ description: "The gateway's own reason for its refusal." }),
      outcome: z
        .string()
        .optional()
        .meta({
          description:
            "The verdict that was refused. With `service_unavailable`: `none` means that this request has changed nothing; " +
            "`unknown` means that it may have been carried out, or still will be: repeat it with the same idempotency key.",
        }),
      gateway: z
        .looseObject({ answer: z.string(), reference: z.string().optional(), reason: z.string().optional() })
        .optional()
        .meta({ description: "What the gateway has just answered." }),
      allow: z.array(z.string()).optional(),
      holder: z
        .strictObject({
          host: z.string().optional(),
          pid: z.int().optional(),
          purpose: z.string().optional(),
          since: instantOut.optional(),
        })
        .optional()
        .meta({ description: "The holder of the lock, as far as it is known." }),
      waitedMs: z.number().optional().meta({ description: "How long the request waited for the lock." }),
      limit: z
        .union([z.number(), z.literal("infinite")])
        .optional()
        .meta({ description: "The longest wait that was allowed, in seconds." }),
      source: z.string().optional().meta({ description: "Where that limit is set." }),
      scope: z.string().optional().meta({ description: "What the lock protects: payment, sandbox." }),
      previousSecretUntil: instantOut
        .optional()
        .meta({ description: "Until then the secret before verifies deliveries, too." }),
      sandboxId: z.string().optional(),
      ownerUrl: z.string().optional().meta({ description: "The instance that has the sandbox." }),
      snapshotId: z.string().optional(),
      previousSnapshotId: z
        .string()
        .optional()
        .meta({ description: "The snapshot before the damaged one; a new sandbox can start from it." }),
      dependencies: z.record(z.string(), z.enum(["up", "down"])).optional(),
      reasons: z.record(z.string(), z.string()).optional().meta({
        description: "Why each dependency that is down cannot be used: no_answer, full, read_only, …",
      }),
    })
    .meta({ description: "RFC 9457 problem details." }),
);
