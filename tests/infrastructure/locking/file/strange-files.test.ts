import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { LockUnavailableError } from "../../../../src/application/ports/lock-errors";
import { breakFileLock } from "../../../../src/infrastructure/locking/file/inspection/break-file-lock";
import { FileLockProvider } from "../../../../src/infrastructure/locking/file/file-lock-provider";
import {
  listFileLocks,
  showFileLock,
} from "../../../../src/infrastructure/locking/file/inspection/list-file-locks";
import type { FileLockMode } from "../../../../src/infrastructure/locking/file/directory/lock-directory";
import { temporaryDirectory } from "../../../support/worlds/temporary-directory";

const temporary = temporaryDirectory();
const ID = "task:nightly";
const LOCK = "task.nightly.lock";

let locks: FileLockProvider;
const servers: Server[] = [];
afterEach(async () => {
  await locks.close();
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
});

const place = (name: string): string => join(temporary.path, name);
const take = (): Promise<void> => locks.withLock(ID, async () => {}, { timeout: 0 });

/** What can lie in a file's place. An `open` of the first would wait until somebody opens its other end. */
const STRANGE: Readonly<Record<string, (path: string) => Promise<void> | void>> = {
  "a pipe": (path) => void execFileSync("mkfifo", [path]),
  "a symbolic link": (path) => symlinkSync(place("elsewhere"), path),
  "a directory": (path) => void mkdirSync(path),
  "a socket": async (path) => {
    const server = createServer();
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(path, resolve));
  },
};

const strange = Object.entries(STRANGE);

describe.each<FileLockMode>(["kernel", "exclusive-create"])("in %s mode", (mode) => {
  beforeEach(async () => {
    locks = new FileLockProvider(temporary.path, { mode });
    await locks.withLock("task:other", async () => {}, { timeout: 0 });
  });

  describe.each(strange)("%s", (kind, put) => {
    it.each([LOCK, "task.nightly.fence"])(
      "in place of %s is refused at once, by name, and nobody is said to hold the lock",
      async (name) => {
        await put(place(name));
        const refused = take();
        await expect(refused).rejects.toThrow(LockUnavailableError);
        await expect(refused).rejects.toMatchObject({ permanent: true });
        await expect(refused).rejects.toThrow(`${place(name)} is ${kind}`);
        await expect(refused).rejects.toThrow("remove it, or use another directory");
        expect(existsSync(place("elsewhere"))).toBe(false);
        rmSync(place(name), { recursive: true });
        await take();
      },
    );

    it("in place of MODE is refused at once, by name", async () => {
      rmSync(place("MODE"));
      await put(place("MODE"));
      await locks.close();
      locks = new FileLockProvider(temporary.path, { mode });
      await expect(take()).rejects.toThrow(`${place("MODE")} is ${kind}`);
      await expect(listFileLocks(temporary.path)).rejects.toThrow(`${place("MODE")} is ${kind}`);
    });

    it("is listed as unknown, with the reason, and hides no other lock", async () => {
      await locks.withLock("task:other", async () => {
        await put(place(LOCK));
        const remark = expect.stringContaining(`${place(LOCK)} is ${kind}`) as string;
        const listed = await listFileLocks(temporary.path);
        expect(listed).toMatchObject([
          { resourceId: ID, state: "unknown", remark },
          { resourceId: "task:other", holder: { pid: process.pid } },
        ]);
        expect(await showFileLock(temporary.path, ID)).toMatchObject({ state: "unknown", remark });
        await expect(breakFileLock(temporary.path, ID, "any:1:x")).rejects.toThrow(
          `${place(LOCK)} is ${kind}`,
        );
      });
    });

    it("that takes the place of a held lock's file is a loss, and stays where it is", async () => {
      await locks.withLock(ID, async (hold) => {
        rmSync(place(LOCK));
        await put(place(LOCK));
        expect(() => hold.assertHeld()).toThrow(/was (removed or )?replaced|was removed/);
        expect(hold.signal.aborted).toBe(true);
      });
      await locks.close();
      expect(await showFileLock(temporary.path, ID)).toMatchObject({ state: "unknown" });
    });
  });
});

describe.each(strange)("%s", (kind, put) => {
  it("in place of the file on which kernel locks are tried says nothing about kernel locks", async () => {
    locks = new FileLockProvider(temporary.path);
    await put(place("PROBE"));
    await expect(take()).rejects.toThrow(`${place("PROBE")} is ${kind}`);
    expect(existsSync(place("MODE"))).toBe(false);
  });

  it("in place of AUDIT keeps a lock from being broken without a trace", async () => {
    locks = new FileLockProvider(temporary.path, { mode: "exclusive-create" });
    await locks.withLock(ID, async (hold) => {
      await put(place("AUDIT"));
      const { holder } = (await showFileLock(temporary.path, ID))!;
      await expect(breakFileLock(temporary.path, ID, holder!.ownerId!)).rejects.toThrow(
        `${place("AUDIT")} is ${kind}`,
      );
      hold.assertHeld();
    });
  });
});

it("a link to a file of somebody else is not followed, and the file not touched", async () => {
  locks = new FileLockProvider(temporary.path);
  writeFileSync(place("elsewhere"), "");
  symlinkSync(place("elsewhere"), place(LOCK));
  await expect(take()).rejects.toThrow(`${place(LOCK)} is a symbolic link`);
  expect(readFileSync(place("elsewhere"), "utf8")).toBe("");
});
