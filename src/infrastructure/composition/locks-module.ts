import { ContainerModule } from "inversify";
import type { LockObserver } from "../../application/ports/lock-observer";
import type { LockProvider } from "../../application/ports/lock-provider";
import type { LocksSetting } from "../configuration/adapter-urls";
import { InMemoryLockProvider } from "../locking/in-memory-lock-provider";
import type { LockProviderSettings } from "../locking/lock-settings";
import { NoOpLockProvider } from "../locking/no-op-lock-provider";
import { tokens } from "./tokens";

/** The provider that a setting means. */
export function makeLocks(setting: LocksSetting, settings: LockProviderSettings): LockProvider {
  switch (setting.kind) {
    case "memory":
      return new InMemoryLockProvider(settings);
    case "none":
      return new NoOpLockProvider(settings);
    default:
      throw new Error(`locks of kind ${setting.kind} are not made here yet`);
  }
}

export function locksModule(setting: LocksSetting, observer: LockObserver | undefined): ContainerModule {
  return new ContainerModule(({ bind }) => {
    bind(tokens.locks).toResolvedValue(
      (timeouts) => makeLocks(setting, { timeouts, ...(observer === undefined ? {} : { observer }) }),
      [tokens.lockTimeouts],
    );
  });
}
