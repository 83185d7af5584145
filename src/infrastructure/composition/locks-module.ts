import { ContainerModule } from "inversify";
import type { OpenLocks } from "./open-locks";
import { tokens } from "./tokens";

export function locksModule({ provider }: OpenLocks): ContainerModule {
  return new ContainerModule(({ bind }) => {
    bind(tokens.locks).toConstantValue(provider);
  });
}
