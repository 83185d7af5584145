import { z } from "zod";
import { requestSchema } from "../../openapi/schema-names";
import { collectionOf } from "../../requests/answer";
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
      description:
        "The id of a snapshot to start from, including its clock. Without it, the sandbox is empty and its clock shows the present.",
    }),
  }),
);

export const createSandbox = endpoint<SandboxParts>()({
  method: "post",
  path: "/sandboxes",
  operationId: "createSandbox",
  tag: "Sandboxes",
  summary: "Create a sandbox: a payments world of your own",
  description:
    "Empty, or from a snapshot: that is how to fork a sandbox or to go back. It has its own simulated gateway and its " +
    "own clock, which stands still until it is moved. Not for live money: changes since the last checkpoint may be lost.",
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
    const location = `${collectionOf(request)}/${sandbox.id}`;
    return { status: 201, headers: { Location: location }, body: { sandbox: presentSandbox(sandbox) } };
  },
});
