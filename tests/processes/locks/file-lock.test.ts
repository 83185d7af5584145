import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LockTimeoutError } from "../../../src/application/ports/lock-errors";
import { LockChild } from "../../../src/infrastructure/locking/contract/children/lock-child";
import { FileLockProvider } from "../../../src/infrastructure/locking/file/file-lock-provider";
import { temporaryDirectory } from "../../support/worlds/temporary-directory";
import { typescriptChild } from "../../support/children/typescript-child";
import { size } from "../../support/test-size";

const PATIENCE_MS = 60_000;
const ID = "task:nightly";
const temporary = temporaryDirectory();

describe.each(["kernel", "exclusive-create"] as const)(
  "processes that share a directory in %s mode",
  (mode) => {
    let locks: FileLockProvider;
    /** Everything that a test started and that may be left when it fails, by number. */
    const started = new Set<number>();

    beforeEach(async () => {
      locks = new FileLockProvider(join(temporary.path, "locks"), { mode });
      await locks.withLock("first", async () => {});
    });

    afterEach(async () => {
      for (const pid of started) end(pid);
      started.clear();
      await locks.close();
    });

    const isFree = (): Promise<boolean> =>
      locks
        .withLock(ID, async () => true, { timeout: 0 })
        .catch((error: unknown) => {
          if (error instanceof LockTimeoutError) return false;
          throw error;
        });

    async function startHolder(): Promise<{ holder: ChildProcess; commandPid: number }> {
      const { file, args } = typescriptChild("file-lock-holder.ts", join(temporary.path, "locks"));
      const holder = spawn(file, args, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
      started.add(holder.pid!);
      const [commandPid] = (await once(holder, "message")) as [number];
      started.add(commandPid);
      return { holder, commandPid };
    }

    it(
      "lose nothing when many of them increment one number",
      async () => {
        const [processes, times] = [size(10, 4), 10];
        const file = join(temporary.path, "number");
        writeFileSync(file, "0");
        const child = typescriptChild("file-lock-child.ts", join(temporary.path, "locks"));
        const children = Array.from({ length: processes }, () => new LockChild(child, PATIENCE_MS));
        try {
          await Promise.all(children.map((one) => one.count(ID, file, times)));
        } finally {
          await Promise.all(children.map((one) => one.kill()));
        }
        expect(readFileSync(file, "utf8")).toBe(String(processes * times));
      },
      PATIENCE_MS,
    );

    it(
      "are kept out by a living command whose wrapper was killed, and let in when the command ends",
      async () => {
        const { holder, commandPid } = await startHolder();
        holder.kill("SIGKILL");
        await once(holder, "exit");
        expect(await isFree()).toBe(false);
        await expect(locks.withLock(ID, async () => {}, { timeout: 0 })).rejects.toThrow(
          `held by pid ${commandPid}`,
        );
        end(commandPid);
        await locks.withLock(ID, async () => {}, { timeout: PATIENCE_MS });
      },
      PATIENCE_MS,
    );

    it(
      "are let in by a holder that released, even if a daemon of its command goes on",
      async () => {
        const { holder, commandPid } = await startHolder();
        holder.send("release");
        expect(await once(holder, "message")).toEqual(["released", undefined]);
        process.kill(commandPid, 0);
        expect(await isFree()).toBe(true);
        holder.disconnect();
        await once(holder, "exit");
      },
      PATIENCE_MS,
    );
  },
);

/** It may have ended by itself. */
function end(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
