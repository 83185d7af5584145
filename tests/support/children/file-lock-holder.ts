import { spawn } from "node:child_process";
import { once } from "node:events";
import { FileLockProvider } from "../../../src/infrastructure/locking/file/file-lock-provider";

/**
 * Holds `task:nightly`, runs a long command under it as `holdfast run` does, and tells the command's number. Told
 * anything, it releases the lock while the command goes on, as a daemon would.
 */
async function hold(directory: string): Promise<void> {
  const locks = new FileLockProvider(directory);
  await locks.withLock("task:nightly", async () => {
    const tenure = locks.tenureOf("task:nightly");
    const fd = tenure?.inheritableFd;
    const command = spawn("sleep", ["600"], {
      stdio: ["ignore", "ignore", "ignore", ...(fd === undefined ? [] : [fd])],
      detached: true,
    });
    await once(command, "spawn");
    command.unref();
    await tenure?.nameChild(command.pid ?? 0);
    process.send?.(command.pid);
    await once(process, "message");
  });
  await locks.close();
  process.send?.("released");
  await once(process, "disconnect");
}

const [directory = ""] = process.argv.slice(2);
void hold(directory);
