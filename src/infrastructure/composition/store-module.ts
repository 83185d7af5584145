import { ContainerModule } from "inversify";
import type { OpenStore } from "./open-store";
import { tokens } from "./tokens";

export function storeModule({ payments, apiKeys, migration }: OpenStore): ContainerModule {
  return new ContainerModule(({ bind }) => {
    bind(tokens.payments).toConstantValue(payments);
    bind(tokens.apiKeys).toConstantValue(apiKeys);
    bind(tokens.migration).toConstantValue(migration);
  });
}
