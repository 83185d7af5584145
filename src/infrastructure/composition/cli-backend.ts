import type { Backend, ConfiguredBackend, Flags } from "../../interfaces/cli/backend";
import { configurationEntries, readConfiguration, type Configuration } from "../configuration/configuration";
import { settings } from "../configuration/settings";
import type * as WithLockInspector from "./commands/with-lock-inspector";
import type * as Migrate from "./commands/migrate";
import type * as NoteAct from "./commands/note-act";
import type * as Serve from "./serving/serve";
import type * as WithTaskLocks from "./commands/with-task-locks";
import type * as WithStore from "./commands/with-store";

/* eslint-disable @typescript-eslint/no-require-imports -- `import()` would start Node's other loader first, for nothing. */
/** Loaded when a command asks for it: most of the program is of no use to most commands, and takes long to load. */
const load = {
  withLockInspector: () => require("./commands/with-lock-inspector") as typeof WithLockInspector,
  migrate: () => require("./commands/migrate") as typeof Migrate,
  noteAct: () => require("./commands/note-act") as typeof NoteAct,
  serve: () => require("./serving/serve") as typeof Serve,
  withTaskLocks: () => require("./commands/with-task-locks") as typeof WithTaskLocks,
  withStore: () => require("./commands/with-store") as typeof WithStore,
};
/* eslint-enable @typescript-eslint/no-require-imports */

/** What the command line can ask for, on the real thing. */
export function cliBackend(environment: NodeJS.ProcessEnv, version: string): Backend {
  return {
    version,
    settingFlags: Object.values(settings),
    configure: (flags: Flags) =>
      configured(readConfiguration({ flags, environment }), version, environment, flags),
  };
}

function configured(
  configuration: Configuration,
  version: string,
  environment: NodeJS.ProcessEnv,
  flags: Flags,
): ConfiguredBackend {
  return {
    entries: () => configurationEntries(configuration),
    withStore: async (use, work, observer) => load.withStore().withStore(configuration, use, work, observer),
    migrate: async (observer) => load.migrate().migrate(configuration, observer),
    withTaskLocks: async (task, work, say, enough) =>
      load.withTaskLocks().withTaskLocks(configuration, environment, task, work, say, enough),
    withLockInspector: async (work) =>
      load.withLockInspector().withLockInspector(configuration, environment, work),
    noteAct: async (act, done) => load.noteAct().noteAct(configuration, act, done),
    server: () => {
      const { url, apiKey } = configuration.settings;
      const { value, kind, source } = configuration.lockTimeouts.scopes.payment;
      return {
        url: url.value,
        urlSource: url.source,
        apiKey: apiKey.value,
        // The server has a limit of its own; only a limit that was set here goes over the wire.
        waitSeconds: kind === "default" || value === "infinite" ? null : value / 1_000,
        waitSource: source,
        reason: flags["reason"]?.trim() || null,
      };
    },
    serve: async (say) => load.serve().serve(configuration, version, say),
  };
}
