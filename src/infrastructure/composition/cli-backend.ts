import "reflect-metadata";
import type { Backend, ConfiguredBackend, Flags, StoreCommands } from "../../interfaces/cli/backend";
import {
  configurationEntries,
  defaultLocks,
  readConfiguration,
  type Configuration,
} from "../configuration/configuration";
import { settings } from "../configuration/settings";
import { SystemClock } from "../time/system-clock";
import { openApplication, takeDataDirectory } from "./application";
import { Closers } from "./closers";
import { serve } from "./serve";
import { withTaskLocks } from "./task-locks";
import { withLockInspector } from "./lock-inspection";
import { openStore } from "./store-module";
import { tokens } from "./tokens";

/** What the command line can ask for, on the real thing. */
export function cliBackend(environment: NodeJS.ProcessEnv, version: string): Backend {
  return {
    version,
    settingFlags: Object.values(settings),
    configure: (flags: Flags) => configured(readConfiguration({ flags, environment }), version, environment),
  };
}

function configured(
  configuration: Configuration,
  version: string,
  environment: NodeJS.ProcessEnv,
): ConfiguredBackend {
  return {
    entries: () => configurationEntries(configuration),
    withStore: async (use, work) => {
      const application = await openApplication(configuration, {
        purpose: use,
        sharesData: use === "keys",
      });
      try {
        const { container } = application;
        const store: StoreCommands = {
          apiKeys: container.get(tokens.manageApiKeys),
          reconcile: () => container.get(tokens.reconcileOperations).execute(),
          expire: () => container.get(tokens.expireAuthorizations).execute(),
        };
        return await work(store);
      } finally {
        await application.close();
      }
    },
    migrate: async () => {
      const { store, locks } = configuration.settings;
      const closers = new Closers();
      try {
        const setting = locks.value ?? defaultLocks(configuration);
        await takeDataDirectory(store.value, setting, "migrate", closers);
        const { migration } = await openStore(store.value, new SystemClock(), closers, { maxConnections: 1 });
        return await migration.migrate();
      } finally {
        await closers.close();
      }
    },
    withTaskLocks: (work) => withTaskLocks(configuration, environment, work),
    withLockInspector: (work) => withLockInspector(configuration, environment, work),
    server: () => {
      const { url, apiKey } = configuration.settings;
      const { value, kind } = configuration.lockTimeouts.scopes.payment;
      return {
        url: url.value,
        urlSource: url.source,
        apiKey: apiKey.value,
        // The server has a limit of its own; only what somebody asked for here goes over the wire.
        waitSeconds: kind === "default" || value === "infinite" ? null : value / 1_000,
      };
    },
    serve: (say) => serve(configuration, version, say),
  };
}
