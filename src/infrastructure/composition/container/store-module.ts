import { ContainerModule } from "inversify";
import type { OpenStore } from "../opening/open-store";
import { tokens } from "./tokens";

export function storeModule(store: OpenStore): ContainerModule {
  return new ContainerModule(({ bind }) => {
    bind(tokens.payments).toConstantValue(store.payments);
    bind(tokens.eventFeed).toConstantValue(store.eventFeed);
    bind(tokens.webhookStore).toConstantValue(store.webhooks);
    bind(tokens.hintStore).toConstantValue(store.hints);
    bind(tokens.merchantAccounts).toConstantValue(store.merchantAccounts);
    bind(tokens.apiKeys).toConstantValue(store.apiKeys);
    bind(tokens.migration).toConstantValue(store.migration);
    bind(tokens.storeConnections).toConstantValue(store.connections);
    bind(tokens.lostLogs).toConstantValue(store.lostLogs());
  });
}
