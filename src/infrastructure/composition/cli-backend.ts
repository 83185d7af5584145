import "reflect-metadata";
import type { Backend, ConfiguredBackend, Flags, StoreCommands } from "../../interfaces/cli/backend";
import { configurationEntries, readConfiguration, type Configuration } from "../configuration/configuration";
import { settings } from "../configuration/settings";
import { SystemClock } from "../time/system-clock";
import { openApplication } from "./application";
import { Closers } from "./closers";
import { serve } from "./serve";
import { openStore } from "./store-module";
import { tokens } from "./tokens";

/** What the command line can ask for, on the real thing. */
export function cliBackend(environment: NodeJS.ProcessEnv, version: string): Backend {
  return {
    version,
    settingFlags: Object.values(settings),
    configure: (flags: Flags) => configured(readConfiguration({ flags, environment }), version),
  };
}

function configured(configuration: Configuration, version: string): ConfiguredBackend {
  return {
    entries: () => configurationEntries(configuration),
    withStore: async (work) => {
      const application = await openApplication(configuration);
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
      const closers = new Closers();
      try {
        const { migration } = await openStore(configuration.settings.store.value, new SystemClock(), closers);
        return await migration.migrate();
      } finally {
        await closers.close();
      }
    },
    serve: (say) => serve(configuration, version, say),
  };
}
