import type { LockObserver } from "../../application/ports/lock-observer";
import type { Configuration } from "../configuration/configuration";
import type { StoreCommands } from "../../interfaces/cli/backend";
import { openApplication } from "./application";
import { tokens } from "./tokens";

/** Lends the commands that work on the store itself, and closes it afterwards. */
export async function withStore<T>(
  configuration: Configuration,
  use: "keys" | "reconcile" | "expire",
  work: (store: StoreCommands) => Promise<T>,
  observer?: LockObserver,
): Promise<T> {
  const application = await openApplication(configuration, {
    purpose: use,
    sharesData: use === "keys",
    ...(observer && { observer }),
  });
  try {
    const { container } = application;
    return await work({
      apiKeys: container.get(tokens.manageApiKeys),
      reconcile: () => container.get(tokens.reconcileOperations).execute(),
      expire: () => container.get(tokens.expireAuthorizations).execute(),
    });
  } finally {
    await application.close();
  }
}
