import { snapshotId } from "../../../application/sandboxes/sandbox-ids";
import { RequestError } from "../../http/problems/request-error";
import { presentSandbox } from "../../http/endpoints/sandboxes/present-sandbox";
import type { ConsoleParts } from "../console-parts";
import type { ConsoleReply, ConsoleRoute, Visit } from "../serving/console-route";
import { oneSandbox, withSandboxes, type TheirSandbox } from "./one-sandbox";

const HOUR_MS = 3_600_000;
/** Ten years: more than any payment needs, and no typing error. */
const MAX_HOURS = 10 * 366 * 24;

const make: ConsoleRoute = {
  method: "post",
  path: "/sandboxes",
  access: "merchant",
  async handle({ caller }, parts) {
    const { id } = await withSandboxes(parts).create(caller.merchant);
    return done(id, "made");
  },
};

export const sandboxActions: readonly ConsoleRoute[] = [
  make,
  action("clock", async ({ id, merchant, sandboxes }, { form }) => {
    const hours = Number(form["hours"]);
    if (!Number.isInteger(hours) || hours < 1 || hours > MAX_HOURS) {
      throw new RequestError("invalid_request", `Hours are a whole number from 1 to ${MAX_HOURS}.`);
    }
    await sandboxes.use(id, merchant, (world) => world.moveClock({ advanceMs: hours * HOUR_MS }));
    return done(id, "moved");
  }),
  action("checkpoint", async ({ id, merchant, sandboxes }) => {
    await sandboxes.checkpoint(id, merchant);
    return done(id, "checkpointed");
  }),
  action("start", async ({ id, merchant, sandboxes }, { form }) => {
    const { snapshots } = await sandboxes.show(id, merchant, presentSandbox);
    const from = snapshots.find((one) => one.id === form["snapshot"]);
    const wanted = from?.id ?? snapshotId({ sandboxId: id, name: "none" });
    const made = await sandboxes.create(merchant, wanted);
    return done(made.id, "made");
  }),
];

function action(
  name: string,
  work: (theirs: TheirSandbox, visit: Visit) => Promise<ConsoleReply>,
): ConsoleRoute {
  return {
    method: "post",
    path: `/sandboxes/:sandboxId/${name}`,
    access: "merchant",
    handle: async (visit: Visit, parts: ConsoleParts) => work(await oneSandbox(visit, parts), visit),
  };
}

function done(id: string, what: string): ConsoleReply {
  return { to: `/console/sandboxes/${id}?done=${what}` };
}
