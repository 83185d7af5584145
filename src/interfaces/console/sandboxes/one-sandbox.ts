import { parseSandboxId, type SandboxId } from "../../../application/sandboxes/sandbox-ids";
import type { MerchantId } from "../../../domain/identifiers";
import { RequestError } from "../../http/problems/request-error";
import type { ConsoleParts } from "../console-parts";
import type { Visit } from "../serving/console-route";

type Sandboxes = NonNullable<ConsoleParts["sandboxes"]>;

export interface TheirSandbox {
  readonly id: SandboxId;
  readonly merchant: MerchantId;
  readonly sandboxes: Sandboxes;
}

/** The sandbox of the address: an operator acts for its merchant. To others than its merchant it does not exist. */
export async function oneSandbox({ ids, whose }: Visit, parts: ConsoleParts): Promise<TheirSandbox> {
  const sandboxes = withSandboxes(parts);
  const id = parseSandboxId(ids["sandboxId"] ?? "");
  return { id, merchant: whose ?? (await sandboxes.merchantOf(id)), sandboxes };
}

export function withSandboxes({ sandboxes }: ConsoleParts): Sandboxes {
  if (sandboxes === undefined) throw new RequestError("route_not_found", "This instance has no sandboxes.");
  return sandboxes;
}
