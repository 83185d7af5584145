import { callerOf } from "../../requests/request-context";
import { endpoint } from "../endpoint";
import { presentSandbox } from "./present-sandbox";
import { oneSandboxAnswer } from "./sandbox-answers";
import { ownedProblems, type SandboxParts } from "./sandbox-parts";

export const showSandbox = endpoint<SandboxParts>()({
  method: "get",
  path: "/sandboxes/:sandboxId",
  operationId: "showSandbox",
  tag: "Sandboxes",
  summary: "Show a sandbox: its owner, clock and snapshots",
  access: "merchant",
  answers: { 200: { description: "As it is now.", schema: oneSandboxAnswer } },
  problems: ownedProblems,
  async handle({ response, ids }, { sandboxes }) {
    const { merchant } = callerOf(response);
    return { status: 200, body: { sandbox: await sandboxes.show(ids.sandboxId, merchant, presentSandbox) } };
  },
});
