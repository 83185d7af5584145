import {
  ConfigurationError,
  defaultTaskLockDirectory,
  locksBackend,
  type Configuration,
} from "../../configuration/configuration";
import { adviseLocks, isForProcesses, lockKinds, type LockSetting } from "../../configuration/lock-catalogue";

/** The locks of a task: those that are configured, else files of the user. Makes no directory. */
export function taskLocksSetting(configuration: Configuration, environment: NodeJS.ProcessEnv): LockSetting {
  const { value, source } = configuration.settings.locks;
  if (value === null) return { kind: "file", directory: stateDirectory(environment) };
  // `none:` keeps nobody apart, and was accepted by name.
  if (value.kind === "store" || lockKinds[value.kind].reach !== "process")
    return locksBackend(configuration, value);
  const message = `is ${value.kind}:, which other processes cannot see: use ${adviseLocks(isForProcesses)}`;
  // Wherever it was set, it is this command that it does not fit.
  throw new ConfigurationError([{ source, kind: "flag", message }]);
}

function stateDirectory(environment: NodeJS.ProcessEnv): string {
  const directory = defaultTaskLockDirectory(environment);
  if (directory !== null) return directory;
  const source = "XDG_STATE_HOME and HOME";
  const message = "give no directory for locks: set one of them, or use --locks file:<dir>";
  throw new ConfigurationError([{ source, kind: "environment", message }]);
}
