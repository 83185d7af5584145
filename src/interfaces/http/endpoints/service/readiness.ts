import { Gauge } from "prom-client";
import { StoreUnavailableError, type StoreTrouble } from "../../../../application/ports/payment-repository";
import type { MetricsRegistry } from "../../server/http-metrics";

/** Rejects when what it asks does not answer, or cannot do its work. */
export type Probe = () => Promise<void>;

/** One that is down. */
export interface Down {
  readonly reason: StoreTrouble;
  readonly error: unknown;
}

/** A dependency that is asked for longer than this is down for all who would have to wait for it. */
const PROBE_TIMEOUT_MS = 2_000;

/** For people who are not told more: a store's own words may name paths and hosts, and are for the log. */
export const troubleInWords: Readonly<Record<StoreTrouble, string>> = {
  no_answer: "does not answer",
  full: "has no space left to write",
  read_only: "is read-only",
  disk_error: "cannot write to its disk",
  damaged: "is damaged",
  replaced: "was removed or replaced",
  log_lost: "has lost its log",
};

/** Asks everything that requests depend on, at once. Null for what is up. */
export async function askAll(
  probes: Readonly<Record<string, Probe>>,
): Promise<readonly (readonly [name: string, down: Down | null])[]> {
  return Promise.all(
    Object.entries(probes).map(async ([name, probe]) => {
      try {
        await withinTime(probe);
        return [name, null] as const;
      } catch (error) {
        const reason = error instanceof StoreUnavailableError ? error.reason : "no_answer";
        return [name, { reason, error }] as const;
      }
    }),
  );
}

/** 1 for each dependency that is down, with the reason; nothing for those that are up. */
export function downGauge(registry: MetricsRegistry, probes: Readonly<Record<string, Probe>>): void {
  new Gauge({
    name: "holdfast_dependency_down",
    help: "Dependencies that cannot be used, by reason, as /readyz reports them",
    labelNames: ["dependency", "reason"],
    registers: [registry],
    async collect() {
      const answers = await askAll(probes);
      this.reset();
      for (const [dependency, down] of answers) {
        if (down !== null) this.set({ dependency, reason: down.reason }, 1);
      }
    },
  });
}

async function withinTime(probe: Probe): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${PROBE_TIMEOUT_MS} ms`)), PROBE_TIMEOUT_MS);
  });
  try {
    await Promise.race([probe(), late]);
  } finally {
    clearTimeout(timer);
  }
}
