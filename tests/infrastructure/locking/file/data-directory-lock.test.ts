import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  LockLostError,
  LockTimeoutError,
  LockUnavailableError,
} from "../../../../src/application/ports/lock-errors";
import { breakFileLock } from "../../../../src/infrastructure/locking/file/inspection/break-file-lock";
import { DataDirectoryLock } from "../../../../src/infrastructure/locking/file/data-directory-lock";
import { lockFileName } from "../../../../src/infrastructure/locking/file/on-disk/lock-file-name";
import {
  ownerIdOf,
  parseRecord,
  serializeRecord,
  type LockRecord,
} from "../../../../src/infrastructure/locking/file/on-disk/lock-record";
import { temporaryDirectory } from "../../../support/worlds/temporary-directory";

const temporary = temporaryDirectory();

describe("the lock beside a SQLite database", () => {
  const database = () => join(temporary.path, "data", "holdfast.db");

  it("the lock beside a SQLite database refuses a second opener, and tells which process has it and what that is doing", async () => {
    const lock = await DataDirectoryLock.acquire(database(), "serve");
    const second = DataDirectoryLock.acquire(database(), "reconcile");
    await expect(second).rejects.toThrow(LockTimeoutError);
    await expect(second).rejects.toMatchObject({ holder: { pid: process.pid, purpose: "serve" } });
    await expect(second).rejects.toThrow(
      new RegExp(`${database()} is locked, held by pid ${process.pid} .*\\(serve\\)`),
    );
    lock.assertHeld();
    await lock.release();
    await (await DataDirectoryLock.acquire(database(), "reconcile")).release();
  });

  it("lies beside the database and touches nothing else", async () => {
    const lock = await DataDirectoryLock.acquire(database(), "serve");
    expect(readdirSync(join(temporary.path, "data"))).toEqual([".holdfast-lock"]);
    await lock.release();
  });

  it("the lock beside a SQLite database lets two databases of one directory be open at once", async () => {
    const one = await DataDirectoryLock.acquire(database(), "serve");
    const other = await DataDirectoryLock.acquire(join(temporary.path, "data", "other.db"), "serve");
    await Promise.all([one.release(), other.release()]);
  });

  it("the lock beside a SQLite database is one lock for two names of one database", async () => {
    mkdirSync(join(temporary.path, "data"));
    writeFileSync(database(), "");
    symlinkSync(join(temporary.path, "data"), join(temporary.path, "linked"));
    symlinkSync(database(), join(temporary.path, "link.db"));
    const lock = await DataDirectoryLock.acquire(database(), "serve");
    for (const name of [join("linked", "holdfast.db"), "link.db"])
      await expect(DataDirectoryLock.acquire(join(temporary.path, name), "serve")).rejects.toThrow(
        LockTimeoutError,
      );
    await lock.release();
  });

  it("the lock beside a SQLite database says how to break it, if it was left over by a host or container that nobody here can judge", async () => {
    const directory = join(temporary.path, "data", ".holdfast-lock");
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, "MODE"), "exclusive-create\n");
    const lock = await DataDirectoryLock.acquire(database(), "serve");
    const file = join(directory, lockFileName("data:holdfast.db"));
    const left = { ...(parseRecord(readFileSync(file, "utf8")) as LockRecord), host: "web-2", nonce: "left" };
    writeFileSync(file, serializeRecord(left));
    await lock.release();
    await expect(DataDirectoryLock.acquire(database(), "serve")).rejects.toThrow(
      `if web-2 is gone for certain: holdfast locks break data:holdfast.db --if-held-by ${ownerIdOf(left)} --locks file:${directory}`,
    );
    await breakFileLock(directory, "data:holdfast.db", ownerIdOf(left));
    await (await DataDirectoryLock.acquire(database(), "serve")).release();
  });

  it("the lock beside a SQLite database notices that somebody has removed it", async () => {
    const lock = await DataDirectoryLock.acquire(database(), "serve");
    rmSync(join(temporary.path, "data", ".holdfast-lock"), { recursive: true });
    expect(() => lock.assertHeld()).toThrow(LockLostError);
    await lock.release();
  });

  it("the lock beside a SQLite database says in words that it has no place to be", async () => {
    writeFileSync(join(temporary.path, "data"), "");
    const attempt = DataDirectoryLock.acquire(database(), "serve");
    await expect(attempt).rejects.toThrow(LockUnavailableError);
    await expect(attempt).rejects.toThrow(/not a directory/);
  });
});
