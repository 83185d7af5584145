import { access, constants } from "node:fs/promises";
import { assertBudgets } from "../../../application/time-budgets";
import type { TaskLocks } from "../../../interfaces/cli/backend";
import { withoutPassword } from "../../configuration/addresses";
import { ConfigurationError, type Configuration } from "../../configuration/configuration";
import { kindOf, type LockSetting } from "../../configuration/lock-catalogue";
import { policyOf } from "../../configuration/lock-timeouts";
import { makeDirectory } from "../../locking/file/directory/make-directory";
import { Closers } from "../opening/closers";
import { taskLocksSetting } from "./task-locks-setting";
import type { TaskTelemetry } from "./task-telemetry";

/** Longer than a release that was told to come back in a second, and short enough for a caller that waits for the status. */
const CLOSING_MS = 2_000;

/** The locks of `holdfast run`: those that are configured, else files in a directory of the user. */
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
  const seen = { wasInside: false };
  let mayHaveSent = (): boolean => true;
  try {
    const timeouts = policyOf(configuration.lockTimeouts);
    const { provider, tenureOf, wasReached, keptWithoutUs, close } = kindOf(setting)
      .load()
      .open(setting, { timeouts, ...(telemetry && { observer: telemetry.observer }) });
    closers.add(close);
    if (wasReached !== undefined) mayHaveSent = wasReached;
    return await work({
      provider: {
        withLock: (resourceId, section, options) => {
          const inside: typeof section = (hold) => {
            seen.wasInside = true;
            return section(hold);
          };
          return provider.withLock(resourceId, inside, options);
        },
      },
      where: whereInWords(setting, configuration),
      keptWithoutUs: keptWithoutUs === true,
      inheritableFd: (resourceId) => tenureOf?.(resourceId)?.inheritableFd,
      nameChild: async (resourceId, pid) => tenureOf?.(resourceId)?.nameChild(pid),
    });
  } finally {
    if (!(await closers.closeWithin(CLOSING_MS, enough)) && mayHaveSent()) {
      const why = enough.aborted
        ? "exited without waiting for the lock service"
        : "the lock service does not answer";
      const what = seen.wasInside ? "the lock may stay held" : "a claim that was sent to it may stay";
      say(`${why}; ${what} until its lease or session ends`);
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

/** For the person who has to repair it. */
function whereInWords(setting: LockSetting, { settings: { locks } }: Configuration): string {
  const { text, source } = locks;
  const where =
    text === null && setting.kind === "file" ? `file:${setting.directory}` : (text ?? setting.kind);
  return `${withoutPassword(where)} (${source})`;
}

/** The directory is a default: that it does not serve is a matter of configuration, not of a backend that is down. */
async function makeWritable(directory: string): Promise<void> {
  try {
    await makeDirectory(directory);
    await access(directory, constants.W_OK | constants.X_OK);
  } catch (error) {
    const message = `cannot be used for locks (${(error as Error).message}): use --locks file:<dir>`;
    throw new ConfigurationError([{ source: directory, kind: "environment", message }]);
  }
}
