import { hostname, userInfo } from "node:os";
import type { BreakAudit } from "../../application/ports/lock-inspector";

/** Who broke which lock, when, and whose it was. */
export function auditLine(resourceId: string, ownerId: string, at: Date): BreakAudit {
  return {
    at: at.toISOString(),
    action: "break",
    resourceId,
    ownerId,
    by: { host: hostname(), pid: process.pid, user: userInfo().username },
  };
}
