import { writeSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { LockError } from "../../src/application/ports/lock-errors";
import { RedisLeaseLockProvider } from "../../src/infrastructure/locking/lease/redis-lease-lock-provider";
import { PostgresLockProvider } from "../../src/infrastructure/locking/postgres/postgres-lock-provider";
import { QUICK_LEASE } from "./gcs-locks";

// Locks one id again and again, and says on its output at which moments it was certain to be inside. Its clock is the
// machine's monotonic one, the same for all processes.

const [kind = "", url = "", space = "", timeoutMs = ""] = process.argv.slice(2);
const locks =
  kind === "redis"
    ? new RedisLeaseLockProvider(url, { keyPrefix: space, lease: QUICK_LEASE })
    : new PostgresLockProvider(url, { schema: space, heartbeatMs: 500, answerTimeoutMs: 3_000 });

const nowMs = (): number => Number(process.hrtime.bigint() / 1_000n) / 1_000;
const say = (line: string): void => void writeSync(1, `${line}\n`);

/** A process that stood still cannot be blamed for what became late meanwhile. */
let stoodStillAtMs = -Infinity;
let tickedMs = nowMs();
setInterval(() => {
  if (nowMs() - tickedMs > 250) stoodStillAtMs = nowMs();
  tickedMs = nowMs();
}, 50).unref();

let isOver = false;
process.once("SIGTERM", () => (isOver = true));

async function run(): Promise<void> {
  while (!isOver) {
    const beganMs = nowMs();
    try {
      await locks.withLock(
        "hot",
        async (hold) => {
          const isLong = Math.random() < 0.1;
          for (let step = 0; step < (isLong ? 400 : 4); step += 1) {
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
      const tookMs = nowMs() - beganMs;
      await pause(50);
      if (stoodStillAtMs < beganMs) say(`refused ${error.code} ${tookMs}`);
    }
  }
  const closingMs = nowMs();
  await locks.close();
  say(`closed ${nowMs() - closingMs}`);
  process.exit(0);
}

void run();
