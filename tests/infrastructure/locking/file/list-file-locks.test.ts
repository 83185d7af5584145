import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { FileLockProvider } from "../../../../src/infrastructure/locking/file/file-lock-provider";
import {
  listFileLocks,
  showFileLock,
} from "../../../../src/infrastructure/locking/file/inspection/list-file-locks";
import {
  parseRecord,
  serializeRecord,
  type LockRecord,
} from "../../../../src/infrastructure/locking/file/on-disk/lock-record";
import { temporaryDirectory } from "../../../support/worlds/temporary-directory";

const temporary = temporaryDirectory();
const onLinux = process.platform === "linux";

async function whileHeld(locks: FileLockProvider, id: string, look: () => Promise<void>): Promise<void> {
  await locks.withLock(id, look, { timeout: 0, purpose: "deploy" });
}

describe("a list of file locks", () => {
  let locks: FileLockProvider;
  afterEach(() => locks.close());

  it("a list of file locks tells a held kernel lock from a file that only names its last holder, and takes neither", async () => {
    locks = new FileLockProvider(temporary.path, { mode: "kernel" });
    await whileHeld(locks, "task:yesterday", async () => {});
    await whileHeld(locks, "task:now", async () => {
      const listed = await listFileLocks(temporary.path);
      const holder = { pid: process.pid, purpose: "deploy" };
      expect(listed).toMatchObject([
        { resourceId: "task:now", mode: "kernel", state: onLinux ? "held" : "unknown", holder },
        { resourceId: "task:yesterday", mode: "kernel", state: onLinux ? "free" : "unknown", holder },
      ]);
      if (onLinux) expect(listed.map(({ processes }) => processes)).toEqual([[process.pid], []]);
    });
    await whileHeld(locks, "task:now", async () => {});
  });

  it("a list of file locks tells of exclusive-create files whether their holder lives", async () => {
    locks = new FileLockProvider(temporary.path, { mode: "exclusive-create" });
    await whileHeld(locks, "task:now", async () => {
      const file = locks.lockFile("task:now");
      const record = parseRecord(readFileSync(file, "utf8")) as LockRecord;
      const leave = (resourceId: string, fields: Partial<LockRecord>) =>
        writeFileSync(locks.lockFile(resourceId), serializeRecord({ ...record, resourceId, ...fields }));
      leave("task:dead", { bootId: onLinux ? "an-earlier-boot" : null, pid: 2 ** 30, startTime: null });
      leave("task:elsewhere", { host: "another-host" });
      writeFileSync(join(temporary.path, "mine.lock"), "4711\n");
      expect(
        (await listFileLocks(temporary.path)).map(({ resourceId, state }) => [resourceId, state]),
      ).toEqual([
        ["mine", "unknown"],
        ["task:dead", "abandoned"],
        ["task:elsewhere", "unknown"],
        ["task:now", "held"],
      ]);
    });
    // The release goes on behind the section.
    await locks.close();
    expect(await showFileLock(temporary.path, "task:now")).toBeNull();
  });

  it("a list of file locks is empty for a directory that does not exist, and does not make it", async () => {
    locks = new FileLockProvider(temporary.path);
    expect(await listFileLocks(join(temporary.path, "none"))).toEqual([]);
    expect(await showFileLock(join(temporary.path, "none"), "task:now")).toBeNull();
  });

  it("a list of file locks shows ids whose names are too long to be read back", async () => {
    locks = new FileLockProvider(temporary.path);
    const id = `task:${"x".repeat(300)}`;
    await whileHeld(locks, id, async () => {
      expect(await listFileLocks(temporary.path)).toMatchObject([{ resourceId: id }]);
      expect(await showFileLock(temporary.path, id)).toMatchObject({ resourceId: id });
    });
  });
});
