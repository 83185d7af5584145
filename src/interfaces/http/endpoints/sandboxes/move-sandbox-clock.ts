import { z } from "zod";
import { requestSchema } from "../../openapi/schema-names";
import { callerOf } from "../../requests/request-context";
import { instantIn } from "../../requests/wire-values";
import { endpoint } from "../endpoint";
import { presentSandbox } from "./present-sandbox";
import { oneSandboxAnswer } from "./sandbox-answers";
import { ownedProblems, type SandboxParts } from "./sandbox-parts";

/** Ten years: more than any payment needs, and no typing error. */
const MAX_ADVANCE_SECONDS = 10 * 366 * 86_400;

const clockRequest = requestSchema(
  "ClockRequest",
  z
    .strictObject({
      advanceSeconds: z.int().min(1).max(MAX_ADVANCE_SECONDS).optional(),
      to: instantIn.optional(),
    })
    .refine(({ advanceSeconds, to }) => (advanceSeconds === undefined) !== (to === undefined), {
      message: "needs either advanceSeconds or to",
    })
    .meta({ description: "Forward only: by a number of seconds, or to an instant." }),
);

export const moveSandboxClock = endpoint<SandboxParts>()({
  method: "post",
  path: "/sandboxes/:sandboxId/clock",
  operationId: "moveSandboxClock",
  tag: "Sandboxes",
  summary: "Move the sandbox's clock forward",
  description:
    "Everything that becomes due in between happens at its own time: authorizations expire, and the gateway is asked again.",
  access: "merchant",
  body: clockRequest,
  answers: { 200: { description: "Moved.", schema: oneSandboxAnswer } },
  problems: [...ownedProblems, "clock_not_movable"],
  async handle({ response, ids: { sandboxId }, body: { advanceSeconds, to } }, { sandboxes, lifecycle }) {
    lifecycle.assertServing();
    const { merchant } = callerOf(response);
    const wanted = to === undefined ? { advanceMs: (advanceSeconds ?? 0) * 1_000 } : { to };
    await sandboxes.use(sandboxId, merchant, (world) => world.moveClock(wanted));
    return { status: 200, body: { sandbox: await sandboxes.show(sandboxId, merchant, presentSandbox) } };
  },
});
