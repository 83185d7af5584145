import { chmodSync, chownSync, existsSync, lchownSync, mkdirSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { LockUnavailableError } from "../../../../src/application/ports/lock-errors";
import { FileLockProvider } from "../../../../src/infrastructure/locking/file/file-lock-provider";
import { listFileLocks } from "../../../../src/infrastructure/locking/file/inspection/list-file-locks";
import type { FileLockMode } from "../../../../src/infrastructure/locking/file/directory/lock-directory";
import {
  assertOwner,
  mayOthersWrite,
} from "../../../../src/infrastructure/locking/file/directory/who-may-write";
import { describeAsRoot } from "../../../support/servers/servers";
import { temporaryDirectory } from "../../../support/worlds/temporary-directory";

const temporary = temporaryDirectory();
const ID = "task:nightly";
const SOMEBODY_ELSE = 65_534;

async function take(directory: string, mode: FileLockMode): Promise<void> {
  const locks = new FileLockProvider(directory, { mode });
  await locks.withLock(ID, async () => {}, { timeout: 0 }).finally(() => locks.close());
}

describe.each<FileLockMode>(["kernel", "exclusive-create"])("in %s mode", (mode) => {
  let directory: string;
  beforeEach(() => {
    directory = join(temporary.path, "shared");
    mkdirSync(directory);
  });

  it.each([
    ["everybody may write to", 0o777],
    ["a group may write to", 0o770],
    ["everybody may add to", 0o1777],
  ])("a directory that %s is refused, by name, with what to do, and left as it was", async (_who, rights) => {
    chmodSync(directory, rights);
    const refused = take(directory, mode);
    await expect(refused).rejects.toThrow(LockUnavailableError);
    await expect(refused).rejects.toMatchObject({ permanent: true });
    await expect(refused).rejects.toThrow(
      `others may write to ${directory} (its rights are ${rights.toString(8)})`,
    );
    await expect(refused).rejects.toThrow(
      `use a directory inside it, which is made for you alone (${directory}/locks)`,
    );
    expect(existsSync(join(directory, "MODE"))).toBe(false);
    expect(statSync(directory).mode & 0o7777).toBe(rights);
    // Nothing is asked of anybody who only looks.
    expect(await listFileLocks(directory)).toEqual([]);
  });

  it("nobody is advised to take rights from a directory that is meant for all", async () => {
    chmodSync(directory, 0o1777);
    await expect(take(directory, mode)).rejects.not.toThrow(/chmod/);
    chmodSync(directory, 0o777);
    await expect(take(directory, mode)).rejects.toThrow(`chmod go-w ${directory}`);
  });

  it("both ways that the message names lead out", async () => {
    chmodSync(directory, 0o1777);
    await take(join(directory, "locks"), mode);
    expect(statSync(join(directory, "locks")).mode & 0o777).toBe(0o700);
    chmodSync(directory, 0o755);
    await take(directory, mode);
  });

  it("a link to a directory of one's own is as good as the directory", async () => {
    symlinkSync(directory, join(temporary.path, "link"));
    await take(join(temporary.path, "link"), mode);
  });

  describeAsRoot("among other users", () => {
    it("a directory that belongs to one of them is refused", async () => {
      chownSync(directory, SOMEBODY_ELSE, SOMEBODY_ELSE);
      await expect(take(directory, mode)).rejects.toThrow(
        `${directory} belongs to another user (${SOMEBODY_ELSE}; this process runs as 0), who could take locks away`,
      );
    });

    it("a link that belongs to one of them is refused", async () => {
      const link = join(temporary.path, "link");
      symlinkSync(directory, link);
      lchownSync(link, SOMEBODY_ELSE, SOMEBODY_ELSE);
      await expect(take(link, mode)).rejects.toThrow(`${link} belongs to another user`);
    });

    it("a counter that belongs to one of them is refused", async () => {
      await take(directory, mode);
      const counter = join(directory, "task.nightly.fence");
      chownSync(counter, SOMEBODY_ELSE, SOMEBODY_ELSE);
      await expect(take(directory, mode)).rejects.toThrow(`${counter} belongs to another user`);
    });
  });
});

describeAsRoot("a kernel lock's file", () => {
  it("is refused if it belongs to another user, who could remove it from under its holder", async () => {
    const directory = join(temporary.path, "own");
    await take(directory, "kernel");
    const file = join(directory, "task.nightly.lock");
    chownSync(file, SOMEBODY_ELSE, SOMEBODY_ELSE);
    await expect(take(directory, "kernel")).rejects.toThrow(`${file} belongs to another user`);
  });
});

describe("who counts as another user", () => {
  it("is neither this process's user nor the administrator, where there are users", () => {
    expect(() => assertOwner(1000, "x", 1000)).not.toThrow();
    expect(() => assertOwner(0, "x", 1000)).not.toThrow();
    expect(() => assertOwner(1001, "x", 1000)).toThrow(
      "x belongs to another user (1001; this process runs as 1000)",
    );
    expect(() => assertOwner(1000, "x", 0)).toThrow("belongs to another user");
  });

  it("cannot be told by rights where a filesystem shows the same for everything", () => {
    expect(mayOthersWrite(0o777, () => 0o600)).toBe(true);
    expect(mayOthersWrite(0o777, () => 0o777)).toBe(false);
    expect(mayOthersWrite(0o755, () => 0o600)).toBe(false);
  });
});
