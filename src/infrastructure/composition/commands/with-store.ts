import type { LockObserver } from "../../../application/ports/lock-observer";
import { ExpireAuthorizations } from "../../../application/use-cases/expire-authorizations";
import { ManageMerchantAccounts } from "../../../application/use-cases/manage-merchant-accounts";
import { ManageApiKeys } from "../../../application/use-cases/manage-api-keys";
import { ReconcileOperations } from "../../../application/use-cases/reconcile-operations";
import type { StoreCommands, StoreUse } from "../../../interfaces/cli/backend";
import type { Configuration } from "../../configuration/configuration";
import { openApplication } from "../opening/open-application";
import { assertStoreExists } from "../opening/open-store";

/** Lends the commands that work on the store itself, and closes it afterwards. */
export async function withStore<T>(
  configuration: Configuration,
  use: StoreUse,
  work: (store: StoreCommands) => Promise<T>,
  observer?: LockObserver,
): Promise<T> {
  if (use !== "new-key") assertStoreExists(configuration.settings.store);
  const { container, close } = await openApplication(configuration, {
    purpose: use,
    sharesData: use === "keys" || use === "new-key" || use === "merchants",
    observer,
  });
  try {
    return await work({
      apiKeys: container.get(ManageApiKeys),
      merchantAccounts: container.get(ManageMerchantAccounts),
      reconcile: () => container.get(ReconcileOperations).execute(),
      expire: () => container.get(ExpireAuthorizations).execute(),
    });
  } finally {
    await close();
  }
}
