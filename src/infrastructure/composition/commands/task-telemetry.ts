import { rename, rm, writeFile } from "node:fs/promises";
import { Registry } from "prom-client";
import type { LockObserver } from "../../../application/ports/lock-observer";
import type { EffectiveSettings } from "../../configuration/configuration";
import { lockLog } from "../../telemetry/lock-log";
import { lockMetrics } from "../../telemetry/lock-metrics";
import { lockObservers } from "../../telemetry/lock-observers";
import { makeLogger, toStderr } from "../../telemetry/logger";

/** What `run` reports of its lock beside its words. */
export interface TaskTelemetry {
  readonly observer: LockObserver;
  /** To be called when nothing more happens to the lock: what was recorded leaves the process. */
  end(): Promise<void>;
}

/** The same log and the same metrics as a server's, each only if it was asked for. */
export function openTaskTelemetry(
  { logLevel, metricsFile }: EffectiveSettings,
  task: string,
  say: (line: string) => void,
): TaskTelemetry {
  const log = logLevel.kind === "default" ? undefined : openLog(logLevel.value);
  const metrics = metricsFile.value === null ? undefined : openMetrics(metricsFile.value, task, say);
  const asked = [log, metrics].filter((one) => one !== undefined);
  return {
    observer: lockObservers(...asked.map(({ observer }) => observer)),
    end: async () => void (await Promise.all(asked.map((one) => one.end()))),
  };
}

function openLog(level: string): TaskTelemetry {
  const destination = toStderr();
  const logger = makeLogger(level, destination);
  // The reader is gone (an error), or everything is written.
  const over = new Promise<void>((resolve) =>
    destination.once("error", () => resolve()).once("close", resolve),
  );
  return {
    observer: lockLog(logger),
    end: () => {
      destination.end();
      return over;
    },
  };
}

/** Files of several tasks lie beside each other, so each has its task as a label: the same series twice is an error. */
function openMetrics(file: string, task: string, say: (line: string) => void): TaskTelemetry {
  const registry = new Registry();
  registry.setDefaultLabels({ task });
  return {
    observer: lockMetrics(registry),
    end: async () => {
      try {
        await replace(file, await registry.metrics());
      } catch (error) {
        say(`cannot write metrics to ${file}: ${(error as NodeJS.ErrnoException).code ?? String(error)}`);
      }
    },
  };
}

/** A reader meanwhile finds the old file or the new one. Until then its name is none that is collected. */
async function replace(file: string, text: string): Promise<void> {
  const beside = `${file}.${process.pid}`;
  try {
    await writeFile(beside, text);
    await rename(beside, file);
  } catch (error) {
    await rm(beside, { force: true }).catch(() => {});
    throw error;
  }
}
