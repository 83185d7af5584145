import { InvalidCursorError } from "../../../../application/ports/payment-repository";
import { parseSandboxId, type SandboxId } from "../../../../application/sandboxes/sandbox-ids";
import { callerOf } from "../../requests/request-context";
import { endpoint } from "../endpoint";
import { pageQuery } from "../page-query";
import { presentListed } from "./present-sandbox";
import { sandboxListAnswer } from "./sandbox-answers";
import type { SandboxParts } from "./sandbox-parts";

export const listSandboxes = endpoint<SandboxParts>()({
  method: "get",
  path: "/sandboxes",
  operationId: "listSandboxes",
  tag: "Sandboxes",
  summary: "List your sandboxes, newest first",
  access: "merchant",
  query: pageQuery,
  answers: { 200: { description: "One page.", schema: sandboxListAnswer } },
  problems: ["invalid_request", "snapshot_store_unavailable"],
  async handle({ response, query: { limit, cursor } }, { sandboxes }) {
    const before = cursor === undefined ? {} : { before: cursorOf(cursor) };
    const { data, next } = await sandboxes.list(callerOf(response).merchant, { limit, ...before });
    const listed = data.map((manifest) => presentListed(manifest, sandboxes.isHere(manifest.sandboxId)));
    return { status: 200, body: { data: listed, nextCursor: next } };
  },
});

function cursorOf(cursor: string): SandboxId {
  try {
    return parseSandboxId(cursor);
  } catch {
    throw new InvalidCursorError("this cursor was not made by this list");
  }
}
