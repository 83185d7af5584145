import type { Container } from "inversify";
import { refusalToListen } from "../../../interfaces/http/server/listening-rule";
import { withoutPassword } from "../../configuration/addresses";
import { ConfigurationError, type Configuration } from "../../configuration/configuration";
import type { LockSetting } from "../../configuration/lock-catalogue";
import { tokens } from "../container/tokens";

/** Without a key every caller is an operator, so the server must not be reachable from outside. */
export async function refuseOpenDoor(container: Container): Promise<void> {
  const { settings } = container.get(tokens.configuration);
  const anyKey = await container.get(tokens.apiKeys).anyEverCreated();
  const message = refusalToListen(settings.host.value, anyKey);
  if (message === null) return;
  const { source, kind } = settings.host;
  // The value is right, what it needs is missing: never a usage error.
  throw new ConfigurationError([{ source, kind: kind === "flag" ? "environment" : kind, message }]);
}

/** As with a store that cannot be opened: a server that can lock nothing would refuse every movement of money. */
export async function refuseSilentLocks(container: Container): Promise<void> {
  try {
    await container.get(tokens.lockProbe)?.();
  } catch (error) {
    const locks = locksInWords(container.get(tokens.configuration), container.get(tokens.lockSetting));
    const message = `the locks ${locks} cannot be used: ${(error as Error).message}`;
    throw Object.assign(new Error(message, { cause: error }), { code: "service_unavailable" });
  }
}

export function locksInWords({ settings }: Configuration, locks: LockSetting): string {
  return withoutPassword(settings.locks.text ?? locks.kind);
}
