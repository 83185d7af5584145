import { z } from "zod";
import { answerSchema } from "../../openapi/schema-names";
import { callerOf } from "../../requests/request-context";
import { idOut } from "../../requests/wire-values";
import { endpoint } from "../endpoint";
import { ownedProblems, type SandboxParts } from "./sandbox-parts";

const deletedSandboxAnswer = answerSchema("DeletedSandbox", z.strictObject({ deleted: idOut }));

export const deleteSandbox = endpoint<SandboxParts>()({
  method: "delete",
  path: "/sandboxes/:sandboxId",
  operationId: "deleteSandbox",
  tag: "Sandboxes",
  summary: "Delete a sandbox with all its snapshots",
  access: "merchant",
  answers: { 200: { description: "Gone.", schema: deletedSandboxAnswer } },
  problems: ownedProblems,
  async handle({ response, ids: { sandboxId } }, { sandboxes, lifecycle }) {
    lifecycle.assertServing();
    await sandboxes.delete(sandboxId, callerOf(response).merchant);
    return { status: 200, body: { deleted: sandboxId } };
  },
});
