import { z } from "zod";
import { answerSchema } from "../openapi/schema-names";
import { problemCodes, type ProblemCode } from "./problem-table";
import { amountOut, instantOut } from "../requests/wire-values";

/** RFC 9457, with the facts that some problems carry. */
export const problemAnswer = answerSchema(
  "Problem",
  z
    .looseObject({
      type: z.string().meta({ description: "A name of the problem, unique in the world." }),
      title: z.string(),
      status: z.int(),
      detail: z.string().meta({ description: "For people; its wording may change." }),
      instance: z.string().meta({ description: "The path that was asked." }),
      code: z
        .enum(problemCodes as [ProblemCode, ...ProblemCode[]])
        .meta({ description: "For programs; it never changes its meaning." }),
      retryable: z.boolean().meta({ description: "The very same request may succeed later." }),
      requestId: z.string().meta({ description: "Under which the operator finds it in the log." }),
      errors: z
        .array(
          z.strictObject({
            pointer: z.string().optional(),
            parameter: z.string().optional(),
            detail: z.string(),
          }),
        )
        .optional()
        .meta({ description: "What is wrong, by JSON pointer into the body or by query parameter." }),
      paymentId: z.string().optional(),
      paymentStatus: z.string().optional(),
      operationId: z.string().optional(),
      operationStatus: z.string().optional(),
      gatewayReference: z.string().optional(),
      maxAmount: amountOut.optional(),
      currency: z.string().optional(),
      expiresAt: instantOut.optional(),
      reason: z.string().optional().meta({ description: "The gateway's own word for its refusal." }),
      outcome: z
        .string()
        .optional()
        .meta({
          description:
            "The verdict that was refused. With `service_unavailable`: `none`, this request has changed nothing; `unknown`, " +
            "it may have been carried out, or still be: repeat it with the same idempotency key.",
        }),
      gateway: z
        .looseObject({ answer: z.string(), reference: z.string().optional(), reason: z.string().optional() })
        .optional()
        .meta({ description: "What the gateway said when it was asked just now." }),
      allow: z.array(z.string()).optional(),
      holder: z
        .strictObject({
          host: z.string().optional(),
          pid: z.int().optional(),
          purpose: z.string().optional(),
          since: instantOut.optional(),
        })
        .optional()
        .meta({ description: "Who is inside the lock, as far as it is known." }),
      waitedMs: z.number().optional().meta({ description: "How long the request waited for the lock." }),
      limit: z
        .union([z.number(), z.literal("infinite")])
        .optional()
        .meta({ description: "How long it would have waited, in seconds." }),
      source: z.string().optional().meta({ description: "What set that limit." }),
      scope: z.string().optional().meta({ description: "What the lock is for: payment, sandbox." }),
      sandboxId: z.string().optional(),
      ownerUrl: z.string().optional().meta({ description: "Where the sandbox is, as its owner says." }),
      snapshotId: z.string().optional(),
      previousSnapshotId: z
        .string()
        .optional()
        .meta({ description: "The snapshot before the damaged one, to make a new sandbox from." }),
      dependencies: z.record(z.string(), z.enum(["up", "down"])).optional(),
      reasons: z
        .record(z.string(), z.string())
        .optional()
        .meta({ description: "Why what is down cannot be used: no_answer, full, read_only, …" }),
    })
    .meta({ description: "RFC 9457 problem details." }),
);
