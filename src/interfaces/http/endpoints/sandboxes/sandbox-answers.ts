import { z } from "zod";
import { answerSchema } from "../../openapi/schema-names";
import { idOut, instantOut } from "../../requests/wire-values";

const snapshotFields = {
  id: z.string().meta({ description: "For `fromSnapshot`." }),
  createdAt: instantOut,
  bytes: z.int().min(0),
  checksum: z.string().meta({ description: "SHA-256 of the bytes, in hex." }),
};

export const oneSnapshotAnswer = answerSchema(
  "OneSnapshot",
  z.strictObject({ snapshot: z.strictObject(snapshotFields) }),
);

export const sandboxAnswer = answerSchema(
  "Sandbox",
  z.strictObject({
    id: idOut,
    createdAt: instantOut,
    ownerUrl: z.string().meta({ description: "The instance that has the sandbox in memory." }),
    lease: z.strictObject({ fencingToken: z.string(), since: instantOut }),
    waiter: z.boolean().meta({ description: "Whether another instance is waiting for the sandbox." }),
    clock: instantOut.meta({ description: "The sandbox's own time. It stands still until it is moved." }),
    counts: z.strictObject({ payments: z.int().min(0) }),
    unsaved: z.boolean().meta({ description: "Whether the sandbox has changed since the last snapshot." }),
    snapshots: z.array(
      z.strictObject({
        ...snapshotFields,
        kept: z.boolean().meta({
          description:
            "Whether a caller asked for this snapshot: then it is kept. Of all others, only the last two are kept.",
        }),
      }),
    ),
    events: z
      .array(
        z.strictObject({
          type: z.enum([
            "created",
            "attached",
            "checkpointed",
            "checkpoint_failed",
            "handed_over",
            "kept",
            "unloaded",
            "deleted",
            "lost",
          ]),
          at: instantOut,
          snapshotId: z.string().optional(),
          reason: z.string().optional(),
        }),
      )
      .meta({ description: "What happened to the sandbox at this instance, oldest first." }),
  }),
);

export const oneSandboxAnswer = answerSchema("OneSandbox", z.strictObject({ sandbox: sandboxAnswer }));

export const sandboxListAnswer = answerSchema(
  "SandboxList",
  z.strictObject({
    data: z.array(
      z.strictObject({
        id: idOut,
        createdAt: instantOut,
        ownerUrl: z
          .string()
          .meta({ description: "The instance that had the sandbox last. It is always safe to ask there." }),
        here: z
          .boolean()
          .meta({ description: "Whether the sandbox is in the memory of the instance that answers." }),
      }),
    ),
    nextCursor: z.string().nullable(),
  }),
);
