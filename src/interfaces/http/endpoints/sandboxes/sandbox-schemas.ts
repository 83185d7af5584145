import { z } from "zod";
import { idOut, instantIn, instantOut, text } from "../../requests/wire-values";

/** Ten years: more than any payment needs, and no typing error. */
const MAX_ADVANCE_SECONDS = 10 * 366 * 86_400;

export const newSandboxRequest = z.strictObject({
  fromSnapshot: text(255).optional().meta({
    description: "The id of a snapshot to begin with, its clock included. Left out: empty, and now.",
  }),
});

export const clockRequest = z
  .strictObject({
    advanceSeconds: z.int().min(1).max(MAX_ADVANCE_SECONDS).optional(),
    to: instantIn.optional(),
  })
  .refine(({ advanceSeconds, to }) => (advanceSeconds === undefined) !== (to === undefined), {
    message: "needs either advanceSeconds or to",
  })
  .meta({ description: "Forward only: by how much, or to when." });

const snapshotFields = {
  id: z.string().meta({ description: "For `fromSnapshot`." }),
  createdAt: instantOut,
  bytes: z.int().min(0),
  checksum: z.string().meta({ description: "SHA-256 of the bytes, in hex." }),
};

export const oneSnapshotAnswer = z.strictObject({ snapshot: z.strictObject(snapshotFields) });

export const sandboxAnswer = z.strictObject({
  id: idOut,
  createdAt: instantOut,
  ownerUrl: z.string().meta({ description: "The instance whose memory it is in." }),
  lease: z.strictObject({ fencingToken: z.string(), since: instantOut }),
  waiter: z.boolean().meta({ description: "Another instance has asked for it." }),
  clock: instantOut.meta({ description: "The sandbox's own time. It stands still until it is moved." }),
  counts: z.strictObject({ payments: z.int().min(0) }),
  unsaved: z.boolean().meta({ description: "Something has changed since the last snapshot." }),
  snapshots: z.array(
    z.strictObject({
      ...snapshotFields,
      kept: z.boolean().meta({
        description: "Somebody asked for it, so it stays. Of the others the last two do.",
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
    .meta({ description: "What happened to it at this instance, oldest first." }),
});

export const oneSandboxAnswer = z.strictObject({ sandbox: sandboxAnswer });
export const deletedSandboxAnswer = z.strictObject({ deleted: idOut });

export const sandboxListAnswer = z.strictObject({
  data: z.array(
    z.strictObject({
      id: idOut,
      createdAt: instantOut,
      ownerUrl: z
        .string()
        .meta({ description: "The instance that had it last. Asking there is never wrong." }),
      here: z.boolean().meta({ description: "It is in the memory of the instance that answers." }),
    }),
  ),
  nextCursor: z.string().nullable(),
});
