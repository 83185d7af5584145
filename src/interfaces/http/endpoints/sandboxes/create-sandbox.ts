import { z } from "zod";
import { requestSchema } from "../../openapi/schema-names";
import { callerOf } from "../../requests/request-context";
import { text } from "../../requests/wire-values";
import { endpoint } from "../endpoint";
import { presentSandbox } from "./present-sandbox";
import { oneSandboxAnswer } from "./sandbox-answers";
import type { SandboxParts } from "./sandbox-parts";

const newSandboxRequest = requestSchema(
  "NewSandboxRequest",
  z.strictObject({
    fromSnapshot: text(255).optional().meta({
      description: "The id of a snapshot to begin with, its clock included. Left out: empty, and now.",
    }),
  }),
);

export const createSandbox = endpoint<SandboxParts>()({
  method: "post",
  path: "/sandboxes",
  operationId: "createSandbox",
  tag: "Sandboxes",
  summary: "Make a payments world of your own",
  description:
    "Empty, or as a snapshot has it: that is how to fork one, and how to go back. It has its own clock, which " +
    "stands still, and its own simulated gateway. Never for live money: what came after the last checkpoint may be lost.",
  access: "merchant",
  body: newSandboxRequest,
  answers: { 201: { description: "Made.", schema: oneSandboxAnswer, headers: ["Location"] } },
  problems: [
    "snapshot_not_found",
    "snapshot_damaged",
    "snapshot_missing",
    "sandbox_limit_reached",
    "sandbox_lost",
    "sandbox_too_large",
    "snapshot_store_unavailable",
    "lock_unavailable",
    "lock_timeout",
  ],
  async handle({ request, response, body }, { sandboxes, lifecycle }) {
    lifecycle.assertServing();
    const sandbox = await sandboxes.create(callerOf(response).merchant, body.fromSnapshot);
    const location = `${request.path.replace(/\/$/, "")}/${sandbox.id}`;
    return { status: 201, headers: { Location: location }, body: { sandbox: presentSandbox(sandbox) } };
  },
});
