import { ContainerModule } from "inversify";
import type { OpenStore } from "../opening/open-store";
import type { OpenSecrets } from "../opening/open-secrets";
import { tokens } from "./tokens";

/** The store, and what opens the secrets in it. */
export function storeModule(store: OpenStore, secrets: OpenSecrets): ContainerModule {
  return new ContainerModule(({ bind }) => {
    bind(tokens.payments).toConstantValue(store.payments);
    bind(tokens.eventFeed).toConstantValue(store.eventFeed);
    bind(tokens.webhookStore).toConstantValue(store.webhooks);
    bind(tokens.hintStore).toConstantValue(store.hints);
    bind(tokens.merchantAccounts).toConstantValue(store.merchantAccounts);
    bind(tokens.openSecrets).toConstantValue(secrets);
    bind(tokens.boxToSeal).toConstantValue(secrets.boxToSeal);
    bind(tokens.apiKeys).toConstantValue(store.apiKeys);
    bind(tokens.consoleSessions).toConstantValue(store.consoleSessions);
    bind(tokens.auditTrail).toConstantValue(store.auditTrail);
    bind(tokens.migration).toConstantValue(store.migration);
    bind(tokens.storeTelemetry).toConstantValue(store.telemetry);
    bind(tokens.lostLogs).toConstantValue(store.lostLogs());
  });
}
