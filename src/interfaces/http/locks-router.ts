import { Router, type RequestHandler } from "express";
import { z } from "zod";
import type { LockHolder } from "../../application/ports/lock-provider";
import type { LockQueue, LockQueues } from "../../application/ports/lock-queues";
import { answerJson } from "./requests/answer";
import { operatorOnly } from "./requests/authentication";
import { route } from "./routes";
import { instantOut } from "./requests/wire-values";

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

export const lockListAnswer = z.strictObject({
  data: z.array(
    z.strictObject({
      resourceId: z.string(),
      holder,
      waiting: z.int().min(0).meta({ description: "How many requests of this instance wait for it." }),
    }),
  ),
});

type LockOut = z.output<typeof lockListAnswer>["data"][number];

/** Who holds and who waits in this process; `holdfast locks` asks the locks themselves. */
export function locksRouter(queues: LockQueues): Router {
  const list: RequestHandler = (_request, response) => {
    const data = queues.queues().map(present);
    data.sort((a, b) => (a.resourceId < b.resourceId ? -1 : 1));
    answerJson(response, 200, { data });
  };
  const router = Router();
  router.use(operatorOnly);
  route(router, "/", { get: list });
  return router;
}

function present({ resourceId, holder, waiting }: LockQueue): LockOut {
  return { resourceId, holder: holder === undefined ? null : presentHolder(holder), waiting };
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
