import { z } from "zod";
import type { LockHolder } from "../../../../application/ports/lock-provider";
import type { LockQueue, LockQueues } from "../../../../application/ports/lock-queues";
import { answerSchema } from "../../openapi/schema-names";
import { instantOut } from "../../requests/wire-values";
import { endpoint } from "../endpoint";

export interface LockParts {
  readonly lockQueues: LockQueues;
}

const holder = z
  .strictObject({
    ownerId: z
      .string()
      .nullable()
      .meta({ description: "Identifies this one hold of the lock, where the lock kind has such ids." }),
    host: z.string().nullable(),
    pid: z.int().nullable(),
    purpose: z.string().nullable().meta({ description: "The purpose that the holder gave." }),
    since: instantOut.nullable(),
  })
  .nullable()
  .meta({ description: "The holder, as far as this instance knows; null while the lock changes hands." });

const lockListAnswer = answerSchema(
  "LockList",
  z.strictObject({
    data: z.array(
      z.strictObject({
        resourceId: z.string(),
        holder,
        waiting: z
          .int()
          .min(0)
          .meta({ description: "How many requests of this instance are waiting for the lock." }),
      }),
    ),
  }),
);

type LockOut = z.output<typeof lockListAnswer>["data"][number];

/** Who holds and who waits in this process; `holdfast locks` asks the locks themselves. */
export const listLocks = endpoint<LockParts>()({
  method: "get",
  path: "/locks",
  operationId: "listLocks",
  tag: "Service",
  summary: "List the locks of this instance: their holders, and how many requests are waiting",
  description:
    "Locks that this instance neither holds nor waits for are not listed; `holdfast locks` inspects the lock backend itself.",
  access: "operator",
  answers: { 200: { description: "Ordered by id.", schema: lockListAnswer } },
  problems: [],
  handle(_asked, { lockQueues }) {
    const data = lockQueues.queues().map(present);
    data.sort((a, b) => (a.resourceId < b.resourceId ? -1 : 1));
    return { status: 200, body: { data } };
  },
});

function present({ resourceId, holder: inside, waiting }: LockQueue): LockOut {
  return { resourceId, holder: inside === undefined ? null : presentHolder(inside), waiting };
}

function presentHolder({ ownerId, host, pid, purpose, since }: LockHolder): NonNullable<LockOut["holder"]> {
  return {
    ownerId: ownerId ?? null,
    host: host ?? null,
    pid: pid ?? null,
    purpose: purpose ?? null,
    since: since?.toISOString() ?? null,
  };
}
