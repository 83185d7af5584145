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
      .meta({ description: "Of this one tenure, where the lock has such an id." }),
    host: z.string().nullable(),
    pid: z.int().nullable(),
    purpose: z.string().nullable().meta({ description: "What the holder says it is doing." }),
    since: instantOut.nullable(),
  })
  .nullable()
  .meta({ description: "Who is inside, as far as this instance knows; null while the lock changes hands." });

const lockListAnswer = answerSchema(
  "LockList",
  z.strictObject({
    data: z.array(
      z.strictObject({
        resourceId: z.string(),
        holder,
        waiting: z.int().min(0).meta({ description: "How many requests of this instance wait for it." }),
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
  summary: "Who holds which lock in this instance, and how many wait",
  description:
    "Locks that nobody here holds or wants are not listed; `holdfast locks` looks at the locks themselves.",
  access: "operator",
  answers: { 200: { description: "In the order of their ids.", schema: lockListAnswer } },
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
