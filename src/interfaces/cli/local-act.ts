import { hostname, userInfo } from "node:os";
import type { Act } from "../../application/audit/act";

/** Whoever typed the command, on this host. */
export function localAct(reason: string | null): Act {
  return {
    actor: { type: "user", name: userName() },
    origin: { over: "command", host: hostname() },
    reason,
  };
}

/** In a container the user often has a number and no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? "unknown");
  }
}
