import { callerOf } from "../../requests/request-context";
import { endpoint } from "../endpoint";
import { presentSnapshot } from "./present-sandbox";
import { oneSnapshotAnswer } from "./sandbox-answers";
import { ownedProblems, type SandboxParts } from "./sandbox-parts";

export const checkpointSandbox = endpoint<SandboxParts>()({
  method: "post",
  path: "/sandboxes/:sandboxId/checkpoint",
  operationId: "checkpointSandbox",
  tag: "Sandboxes",
  summary: "Take a snapshot that is kept until the sandbox is deleted",
  access: "merchant",
  answers: { 201: { description: "Taken.", schema: oneSnapshotAnswer } },
  problems: [...ownedProblems, "sandbox_too_large"],
  async handle({ response, ids: { sandboxId } }, { sandboxes, lifecycle }) {
    lifecycle.assertServing();
    const snapshot = await sandboxes.checkpoint(sandboxId, callerOf(response).merchant);
    return { status: 201, body: { snapshot: presentSnapshot(sandboxId, snapshot) } };
  },
});
