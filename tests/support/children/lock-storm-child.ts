import { writeSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { LockError } from "../../../src/application/ports/lock-errors";
import type { LockHold, LockProvider } from "../../../src/application/ports/lock-provider";
import { FileLockProvider } from "../../../src/infrastructure/locking/file/file-lock-provider";
import { lead } from "../../../src/infrastructure/locking/leadership/lead";
import { GcsLockProvider } from "../../../src/infrastructure/locking/lease/gcs/gcs-lock-provider";
import type * as redisModule from "../../../src/infrastructure/locking/lease/redis/redis-lock-provider";
import { NoOpLockProvider } from "../../../src/infrastructure/locking/none/no-op-lock-provider";
import type * as postgresModule from "../../../src/infrastructure/locking/postgres/postgres-lock-provider";
import { QUICK_LEASE } from "../servers/gcs-locks";
import { Stalls } from "../stalls";
import { STORM_PERMITS, type StormKind } from "../worlds/lock-storm";

// Locks one id again and again, and says on its output at which moments it was certain to be inside. Its clock is the
// machine's monotonic one, the same for all processes.

const [kind = "", place = "", timeoutMs = "", way = ""] = process.argv.slice(2);

type Closable = LockProvider & { close?(): Promise<void> };

/* Each loads its own alone: processes that load every client do little else. */
/* eslint-disable @typescript-eslint/no-require-imports */
const providers: Record<StormKind, () => Closable> = {
  postgres: () => {
    const loaded = require("../../../src/infrastructure/locking/postgres/postgres-lock-provider");
    const { PostgresLockProvider } = loaded as typeof postgresModule;
    return new PostgresLockProvider(place, { schema: "storm", heartbeatMs: 500, answerTimeoutMs: 3_000 });
  },
  redis: () => {
    const loaded = require("../../../src/infrastructure/locking/lease/redis/redis-lock-provider");
    const { RedisLockProvider } = loaded as typeof redisModule;
    return new RedisLockProvider(place, { keyPrefix: "storm:", lease: QUICK_LEASE });
  },
  gcs: () => new GcsLockProvider("gs://locks/storm", { emulatorHost: place, lease: QUICK_LEASE }),
  kernel: () => new FileLockProvider(place, { mode: "kernel" }),
  "exclusive-create": () => new FileLockProvider(place, { mode: "exclusive-create" }),
  nothing: () => new NoOpLockProvider(),
};
/* eslint-enable @typescript-eslint/no-require-imports */

const nowMs = (): number => Number(process.hrtime.bigint() / 1_000n) / 1_000;
const say = (line: string): void => void writeSync(1, `${line}\n`);

const stalls = new Stalls();
const LONG_MS = 1_200;
const over = new AbortController();
process.once("SIGTERM", () => over.abort());

async function beInside(hold: LockHold): Promise<void> {
  // A leader is stopped and killed often enough without being slow.
  const isLong = Math.random() < (way === "leader" ? 0.5 : 0.1);
  const fromMs = nowMs();
  for (let step = 0; isLong ? nowMs() < fromMs + LONG_MS : step < 4; step += 1) {
    if (way === "leader" && hold.signal.aborted) return;
    // Before the question, so that it is true of this moment if it is true at all.
    const askedMs = nowMs();
    hold.assertHeld();
    say(`held ${hold.fencingToken} ${askedMs} ${hold.slot ?? 1}`);
    if (isLong && step === 0) say("long");
    await pause(3);
  }
}

const WAYS: Readonly<Record<string, (locks: LockProvider) => Promise<void>>> = {
  section: (locks) => locks.withLock("hot", beInside, { timeout: Number(timeoutMs) }),
  slots: (locks) => locks.withLock("hot", beInside, { timeout: Number(timeoutMs), permits: STORM_PERMITS }),
  leader: (locks) => lead(locks, "hot", beInside, { endingMs: 500, signal: over.signal }),
};

async function run(): Promise<void> {
  const locks = providers[kind as StormKind]();
  while (!over.signal.aborted) {
    const took = stalls.stopwatch();
    try {
      await WAYS[way]?.(locks);
    } catch (error) {
      if (!(error instanceof LockError)) throw error;
      say(`refused ${error.code} ${took()}`);
      await pause(50);
    }
  }
  const took = stalls.stopwatch();
  await locks.close?.();
  say(`closed ${took()}`);
  process.exit(0);
}

void run();
