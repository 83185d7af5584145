import { access, constants } from "node:fs/promises";
import { assertBudgets } from "../../application/operations/budgets";
import type { TaskLocks } from "../../interfaces/cli/backend";
import { withoutPassword, type LocksBackendSetting } from "../configuration/adapter-urls";
import {
  ConfigurationError,
  defaultTaskLockDirectory,
  locksBackend,
  type Configuration,
} from "../configuration/configuration";
import { policyOf } from "../configuration/lock-timeouts";
import { makeDirectory } from "../locking/file/make-directory";
import { Closers } from "./closers";
import { openLocks } from "./open-locks";
import type { TaskTelemetry } from "./task-telemetry";

/** Longer than a release that was told to come back in a second, and short enough for whoever waits for an exit status. */
const CLOSING_MS = 2_000;

/** The locks of `holdfast run`: whatever is configured, else files in a directory of the user. */
export async function withTaskLocks<T>(
  configuration: Configuration,
  environment: NodeJS.ProcessEnv,
  task: string,
  work: (locks: TaskLocks) => Promise<T>,
  say: (line: string) => void,
  enough: AbortSignal,
): Promise<T> {
  assertBudgets();
  const setting = taskLocksSetting(configuration, environment);
  if (configuration.settings.locks.value === null && setting.kind === "file")
    await makeWritable(setting.directory);
  const telemetry = await telemetryOf(configuration, task, say);
  const closers = new Closers();
  try {
    const { provider, file } = openLocks(
      setting,
      { timeouts: policyOf(configuration.lockTimeouts), ...(telemetry && { observer: telemetry.observer }) },
      closers,
    );
    return await work({
      provider,
      where: whereInWords(setting, configuration),
      inheritableFd: (resourceId) => file?.tenureOf(resourceId)?.inheritableFd,
      nameChild: async (resourceId, pid) => file?.tenureOf(resourceId)?.nameChild(pid),
    });
  } finally {
    if (!(await closers.closeWithin(CLOSING_MS, enough))) {
      const why = enough.aborted
        ? "ended without waiting for the lock service"
        : "the lock service does not answer";
      say(`${why}; what was locked there may stay so until its lease or session ends`);
    }
    await telemetry?.end();
  }
}

/** Most runs are not asked for any, and do not load what makes it. */
async function telemetryOf(
  { settings }: Configuration,
  task: string,
  say: (line: string) => void,
): Promise<TaskTelemetry | undefined> {
  if (settings.logLevel.kind === "default" && settings.metricsFile.value === null) return undefined;
  const { openTaskTelemetry } = await import("./task-telemetry.js");
  return openTaskTelemetry(settings, task, say);
}

/** For whoever has to repair it. */
function whereInWords(setting: LocksBackendSetting, { settings: { locks } }: Configuration): string {
  const { text, source } = locks;
  const where =
    text === null && setting.kind === "file" ? `file:${setting.directory}` : (text ?? setting.kind);
  return `${withoutPassword(where)} (${source})`;
}

/** Touches nothing: whoever only looks at locks makes no directory for them. */
export function taskLocksSetting(
  configuration: Configuration,
  environment: NodeJS.ProcessEnv,
): LocksBackendSetting {
  const { locks } = configuration.settings;
  if (locks.value === null) return { kind: "file", directory: stateDirectory(environment) };
  if (locks.value.kind !== "memory") return locksBackend(configuration, locks.value);
  // Whoever wrote it, it is this command that it does not fit.
  throw new ConfigurationError([
    {
      source: locks.source,
      kind: "flag",
      message: "is memory:, which no other process sees: use file:<dir>, postgres://…, redis://… or gs://…",
    },
  ]);
}

function stateDirectory(environment: NodeJS.ProcessEnv): string {
  const directory = defaultTaskLockDirectory(environment);
  if (directory === null) {
    throw refused(
      "XDG_STATE_HOME and HOME",
      "tell no directory for locks: set one of them, or --locks file:<dir>",
    );
  }
  return directory;
}

/** Nobody chose this directory: that it does not serve is a matter of configuration, not of a backend that is down. */
async function makeWritable(directory: string): Promise<void> {
  try {
    await makeDirectory(directory);
    await access(directory, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw refused(
      directory,
      `cannot be used for locks (${(error as Error).message}): set --locks file:<dir>`,
    );
  }
}

function refused(source: string, message: string): ConfigurationError {
  return new ConfigurationError([{ source, kind: "environment", message }]);
}
