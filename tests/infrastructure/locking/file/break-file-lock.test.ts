import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AUDIT_FILE } from "../../../../src/infrastructure/locking/file/on-disk/audit-file";
import { breakFileLock } from "../../../../src/infrastructure/locking/file/inspection/break-file-lock";
import { FileLockProvider } from "../../../../src/infrastructure/locking/file/file-lock-provider";
import { showFileLock } from "../../../../src/infrastructure/locking/file/inspection/list-file-locks";
import {
  parseRecord,
  serializeRecord,
  type LockRecord,
} from "../../../../src/infrastructure/locking/file/on-disk/lock-record";
import { temporaryDirectory } from "../../../support/worlds/temporary-directory";

const temporary = temporaryDirectory();
const ID = "task:nightly";

async function ownerOf(id: string): Promise<string> {
  return (await showFileLock(temporary.path, id))?.holder?.ownerId ?? "";
}

describe("breaking a file lock", () => {
  let locks: FileLockProvider;
  afterEach(() => locks.close());

  it("breaking a file lock frees an exclusive-create lock from a holder of another host, leaves a line behind, and names who did it", async () => {
    locks = new FileLockProvider(temporary.path, { mode: "exclusive-create" });
    let record: LockRecord | undefined;
    await locks.withLock(ID, async () => {
      record = parseRecord(readFileSync(locks.lockFile(ID), "utf8")) as LockRecord;
    });
    // The release goes on behind the section.
    await locks.close();
    locks = new FileLockProvider(temporary.path);
    writeFileSync(locks.lockFile(ID), serializeRecord({ ...record!, host: "another-host" }));
    await expect(locks.withLock(ID, async () => {}, { timeout: 0 })).rejects.toThrow(/another-host/);

    const ownerId = await ownerOf(ID);
    const result = await breakFileLock(temporary.path, ID, ownerId, Date.UTC(2026, 10, 18));
    const audit = {
      at: "2026-11-18T00:00:00.000Z",
      action: "break",
      resourceId: ID,
      ownerId,
      by: { pid: process.pid },
    };
    expect(result).toMatchObject({ outcome: "broken", audit });
    const lines = readFileSync(join(temporary.path, AUDIT_FILE), "utf8").trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([audit]);
    await locks.withLock(ID, async () => {}, { timeout: 0 });
  });

  it("breaking a file lock tells a living holder that it has lost the lock, and spares its successor", async () => {
    locks = new FileLockProvider(temporary.path, { mode: "exclusive-create" });
    const others = new FileLockProvider(temporary.path);
    await locks.withLock(ID, async (hold) => {
      await breakFileLock(temporary.path, ID, await ownerOf(ID));
      expect(() => hold.assertHeld()).toThrow(/was removed/);
      expect(hold.signal.aborted).toBe(true);
    });
    await others.withLock(ID, async () => {}, { timeout: 0 });
    await others.close();
  });

  it("breaking a file lock leaves a lock alone that somebody else has by now", async () => {
    locks = new FileLockProvider(temporary.path, { mode: "exclusive-create" });
    await locks.withLock(ID, async (hold) => {
      const result = await breakFileLock(temporary.path, ID, "web-2:4711:before");
      expect(result).toMatchObject({ outcome: "held_by_another", lock: { holder: { pid: process.pid } } });
      hold.assertHeld();
    });
    expect(existsSync(join(temporary.path, AUDIT_FILE))).toBe(false);
  });

  it("breaking a file lock waits for who changes its file at that moment, and then says that somebody does", async () => {
    locks = new FileLockProvider(temporary.path, { mode: "exclusive-create" });
    await locks.withLock(ID, async () => {
      const breaker = `${locks.lockFile(ID)}.breaking`;
      writeFileSync(breaker, readFileSync(locks.lockFile(ID)));
      expect(await breakFileLock(temporary.path, ID, "web-2:4711:before")).toMatchObject({
        outcome: "held_by_another",
      });
      const ownerId = await ownerOf(ID);
      expect(await breakFileLock(temporary.path, ID, ownerId)).toEqual({ outcome: "busy" });
      setTimeout(() => rmSync(breaker), 20);
      expect(await breakFileLock(temporary.path, ID, ownerId)).toMatchObject({ outcome: "broken" });
    });
  });

  it("breaking a file lock does not break what cannot be recorded", async () => {
    locks = new FileLockProvider(join(temporary.path), { mode: "exclusive-create" });
    await locks.withLock(ID, async (hold) => {
      const ownerId = await ownerOf(ID);
      // A directory where the line should go.
      await new FileLockProvider(join(temporary.path, AUDIT_FILE)).withLock("x", async () => {});
      await expect(breakFileLock(temporary.path, ID, ownerId)).rejects.toThrow(/AUDIT is a directory/);
      hold.assertHeld();
    });
  });

  it("breaking a file lock names the process to end where the kernel has the lock", async () => {
    locks = new FileLockProvider(temporary.path, { mode: "kernel" });
    await locks.withLock(ID, async (hold) => {
      const result = await breakFileLock(temporary.path, ID, await ownerOf(ID));
      expect(result).toMatchObject({ outcome: "end_the_processes", lock: { holder: { pid: process.pid } } });
      hold.assertHeld();
    });
    if (process.platform === "linux")
      expect(await breakFileLock(temporary.path, ID, await ownerOf(ID))).toEqual({ outcome: "not_held" });
  });

  it("breaking a file lock finds nothing to break where nobody holds anything", async () => {
    locks = new FileLockProvider(temporary.path);
    expect(await breakFileLock(temporary.path, ID, "x")).toEqual({ outcome: "not_held" });
    expect(await breakFileLock(join(temporary.path, "none"), ID, "x")).toEqual({ outcome: "not_held" });
  });
});
