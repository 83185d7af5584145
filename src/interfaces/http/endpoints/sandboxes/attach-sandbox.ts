import { callerOf } from "../../requests/request-context";
import { endpoint } from "../endpoint";
import { presentSandbox } from "./present-sandbox";
import { oneSandboxAnswer } from "./sandbox-answers";
import { ownedProblems, type SandboxParts } from "./sandbox-parts";

export const attachSandbox = endpoint<SandboxParts>()({
  method: "post",
  path: "/sandboxes/:sandboxId/attach",
  operationId: "attachSandbox",
  tag: "Sandboxes",
  summary: "Bring a sandbox to this instance",
  description:
    "Asks the instance that has it; that one finishes its requests, checkpoints the sandbox and releases it. One instance may wait at a time.",
  access: "merchant",
  answers: { 200: { description: "The sandbox is at this instance.", schema: oneSandboxAnswer } },
  problems: [...ownedProblems, "lock_timeout"],
  async handle({ response, ids }, { sandboxes, lifecycle }) {
    lifecycle.assertServing();
    const sandbox = await sandboxes.attach(ids.sandboxId, callerOf(response).merchant);
    return { status: 200, body: { sandbox: presentSandbox(sandbox) } };
  },
});
