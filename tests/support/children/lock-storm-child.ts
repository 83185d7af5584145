import { writeSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { LockError } from "../../../src/application/ports/lock-errors";
import type { LockProvider } from "../../../src/application/ports/lock-provider";
import { FileLockProvider } from "../../../src/infrastructure/locking/file/file-lock-provider";
import { GcsLockProvider } from "../../../src/infrastructure/locking/lease/gcs/gcs-lock-provider";
import { RedisLockProvider } from "../../../src/infrastructure/locking/lease/redis/redis-lock-provider";
import { NoOpLockProvider } from "../../../src/infrastructure/locking/none/no-op-lock-provider";
import { PostgresLockProvider } from "../../../src/infrastructure/locking/postgres/postgres-lock-provider";
import { QUICK_LEASE } from "../servers/gcs-locks";
import { Stalls } from "../stalls";
import type { StormKind } from "../worlds/lock-storm";

// Locks one id again and again, and says on its output at which moments it was certain to be inside. Its clock is the
// machine's monotonic one, the same for all processes.

const [kind = "", place = "", timeoutMs = ""] = process.argv.slice(2);

const providers: Record<StormKind, () => LockProvider & { close?(): Promise<void> }> = {
  postgres: () =>
    new PostgresLockProvider(place, { schema: "storm", heartbeatMs: 500, answerTimeoutMs: 3_000 }),
  redis: () => new RedisLockProvider(place, { keyPrefix: "storm:", lease: QUICK_LEASE }),
  gcs: () => new GcsLockProvider("gs://locks/storm", { emulatorHost: place, lease: QUICK_LEASE }),
  kernel: () => new FileLockProvider(place, { mode: "kernel" }),
  "exclusive-create": () => new FileLockProvider(place, { mode: "exclusive-create" }),
  nothing: () => new NoOpLockProvider(),
};
const locks = providers[kind as StormKind]();

const nowMs = (): number => Number(process.hrtime.bigint() / 1_000n) / 1_000;
const say = (line: string): void => void writeSync(1, `${line}\n`);

const stalls = new Stalls();
const LONG_MS = 1_200;
let isOver = false;
process.once("SIGTERM", () => (isOver = true));

async function run(): Promise<void> {
  while (!isOver) {
    const took = stalls.stopwatch();
    try {
      await locks.withLock(
        "hot",
        async (hold) => {
          const isLong = Math.random() < 0.1;
          const fromMs = nowMs();
          for (let step = 0; isLong ? nowMs() < fromMs + LONG_MS : step < 4; step += 1) {
            // Before the question, so that it is true of this moment if it is true at all.
            const askedMs = nowMs();
            hold.assertHeld();
            say(`held ${hold.fencingToken} ${askedMs}`);
            if (isLong && step === 0) say("long");
            await pause(3);
          }
        },
        { timeout: Number(timeoutMs) },
      );
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
