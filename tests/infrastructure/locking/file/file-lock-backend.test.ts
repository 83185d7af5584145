import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { LockLostError, LockUnavailableError } from "../../../../src/application/ports/lock-errors";
import {
  FileLockBackend,
  type FileLockBackendOptions,
} from "../../../../src/infrastructure/locking/file/file-lock-backend";
import type { FileTenure } from "../../../../src/infrastructure/locking/file/file-tenure";
import {
  loadKernelLocks,
  type KernelLocks,
} from "../../../../src/infrastructure/locking/file/kernel/kernel-locks";
import type { FileLockMode } from "../../../../src/infrastructure/locking/file/directory/lock-directory";
import { NodeLockFiles } from "../../../../src/infrastructure/locking/file/on-disk/lock-files";
import {
  parseRecord,
  serializeRecord,
  type LockRecord,
} from "../../../../src/infrastructure/locking/file/on-disk/lock-record";
import { LocalProcesses } from "../../../../src/infrastructure/locking/file/exclusive-create/process-identity";
import { temporaryDirectory } from "../../../support/worlds/temporary-directory";

const temporary = temporaryDirectory();
const ID = "task:nightly";
const opened: FileLockBackend[] = [];

function backendIn(directory: string, options: Partial<FileLockBackendOptions> = {}): FileLockBackend {
  const backend = new FileLockBackend({ directory, ...options });
  opened.push(backend);
  return backend;
}

afterEach(async () => {
  for (const backend of opened.splice(0)) await backend.close();
});

async function take(backend: FileLockBackend, id = ID, purpose?: string): Promise<FileTenure> {
  const attempt = await backend.attempt(id, {
    mayWait: false,
    ...(purpose === undefined ? {} : { purpose }),
  });
  if (attempt.kind !== "acquired") throw new Error(`expected to get ${id}: ${JSON.stringify(attempt)}`);
  return backend.tenureOf(id)!;
}

async function isRefused(backend: FileLockBackend, id = ID): Promise<boolean> {
  return (await backend.attempt(id, { mayWait: false })).kind === "held";
}

function recordOf(path: string): LockRecord {
  const record = parseRecord(readFileSync(path, "utf8"));
  if (typeof record === "string") throw new Error(`${path} is ${record}`);
  return record;
}

const noKernelLocks = (): never => {
  throw new Error("no binary here");
};

describe.each<FileLockMode>(["kernel", "exclusive-create"])("a file lock in %s mode", (mode) => {
  it("a file lock refuses everybody else until it is released, and names its holder meanwhile", async () => {
    const ours = backendIn(temporary.path, { mode });
    const theirs = backendIn(temporary.path);
    const tenure = await take(ours, ID, "deploy");
    expect(await theirs.attempt(ID, { mayWait: true })).toMatchObject({
      kind: "held",
      holder: { pid: process.pid, purpose: "deploy", since: expect.any(Date) as Date },
      advice: expect.stringContaining(join(temporary.path, "task.nightly.lock")) as string,
    });
    await tenure.release();
    await (await take(theirs)).release();
  });

  it("a file lock lets different ids pass each other", async () => {
    const backend = backendIn(temporary.path, { mode });
    for (const id of ["a", "A", "../a", "é", "x".repeat(5000), ""]) await take(backend, id);
    for (const id of ["a", "A", "../a", "é", "x".repeat(5000), ""]) {
      expect(recordOf(backend.lockFile(id)).resourceId).toBe(id);
      await backend.tenureOf(id)!.release();
    }
    expect(existsSync(join(temporary.path, "..", "a.lock"))).toBe(false);
  });

  it("a file lock draws growing fencing tokens, also when the clock goes back", async () => {
    let nowMs = 2_000_000_000_000;
    const tokens: bigint[] = [];
    for (const step of [0, 0, -86_400_000, 5000]) {
      nowMs += step;
      const tenure = await take(backendIn(temporary.path, { mode, nowMs: () => nowMs }));
      tokens.push(tenure.fencingToken);
      await tenure.release();
    }
    expect(tokens).toEqual([2_000_000_000_001n, 2_000_000_000_002n, 2_000_000_000_003n, 2_000_000_000_004n]);
  });

  it("a file lock makes a missing directory, for its owner alone", async () => {
    const directory = join(temporary.path, "deep", "er");
    await (await take(backendIn(directory, { mode }))).release();
    expect(statSync(directory).mode & 0o777).toBe(0o700);
  });

  it("a file lock makes the directory again if somebody has removed it", async () => {
    const directory = join(temporary.path, "locks");
    const backend = backendIn(directory, { mode });
    await (await take(backend)).release();
    rmSync(directory, { recursive: true });
    await (await take(backend)).release();
  });

  it("a file lock says in words that there is no directory to be had", async () => {
    const file = join(temporary.path, "file");
    writeFileSync(file, "");
    const attempt = backendIn(join(file, "locks"), { mode }).attempt(ID, { mayWait: true });
    await expect(attempt).rejects.toMatchObject({
      code: "lock_unavailable",
      permanent: true,
      message: expect.stringMatching(/cannot make the directory .*file\/locks: .*not a directory/) as string,
    });
  });

  it("a file lock leaves alone what it did not write, and names it", async () => {
    const backend = backendIn(temporary.path, { mode });
    writeFileSync(backend.lockFile(ID), "4711\n");
    const attempt = backend.attempt(ID, { mayWait: true });
    await expect(attempt).rejects.toThrow(LockUnavailableError);
    await expect(attempt).rejects.toThrow(`${backend.lockFile(ID)} was not written by Holdfast`);
    expect(readFileSync(backend.lockFile(ID), "utf8")).toBe("4711\n");
  });

  it("a file lock leaves alone a counter that it did not write, and keeps no lock because of it", async () => {
    const backend = backendIn(temporary.path, { mode });
    const counter = join(temporary.path, "task.nightly.fence");
    writeFileSync(counter, "soon");
    await expect(backend.attempt(ID, { mayWait: true })).rejects.toThrow(
      `${counter} was not written by Holdfast`,
    );
    rmSync(counter);
    await (await take(backendIn(temporary.path, { mode }))).release();
  });

  it("a file lock does not follow a link out of its directory", async () => {
    const backend = backendIn(join(temporary.path, "locks"), { mode });
    mkdirSync(join(temporary.path, "locks"));
    symlinkSync(join(temporary.path, "elsewhere"), backend.lockFile(ID));
    await expect(backend.attempt(ID, { mayWait: true })).rejects.toThrow(/symbolic link/);
    expect(existsSync(join(temporary.path, "elsewhere"))).toBe(false);
  });

  it("a file lock releases once, however often it is asked", async () => {
    const ours = backendIn(temporary.path, { mode });
    const tenure = await take(ours);
    await Promise.all([tenure.release(), tenure.release()]);
    const next = await take(backendIn(temporary.path));
    await tenure.release();
    expect(await isRefused(ours)).toBe(true);
    await next.release();
  });

  it("a file lock is not held any more after its release", async () => {
    const tenure = await take(backendIn(temporary.path, { mode }));
    tenure.assertHeld();
    await tenure.release();
    expect(() => tenure.assertHeld()).toThrow(LockLostError);
  });

  it("a file lock notices that its file was taken away, and leaves its successor's alone", async () => {
    const ours = backendIn(temporary.path, { mode });
    const tenure = await take(ours);
    rmSync(ours.lockFile(ID));
    const successor = await take(backendIn(temporary.path));
    expect(() => tenure.assertHeld()).toThrow(LockLostError);
    expect(tenure.lost.aborted).toBe(true);
    await tenure.release();
    successor.assertHeld();
    expect(await isRefused(ours)).toBe(true);
    await successor.release();
  });

  it("a file lock writes down the child that works under it", async () => {
    const backend = backendIn(temporary.path, { mode });
    const tenure = await take(backend);
    await tenure.nameChild(process.ppid);
    expect(recordOf(backend.lockFile(ID)).childPid).toBe(process.ppid);
    tenure.assertHeld();
    await tenure.release();
  });

  it("a file lock wakes those who wait when it is released", async () => {
    const tenure = await take(backendIn(temporary.path, { mode }));
    const waiting = backendIn(temporary.path);
    await isRefused(waiting);
    const woken = new Promise<void>((resolve) => waiting.onReleased(ID, resolve));
    await tenure.release();
    await woken;
  });

  it("a file lock is refused where the directory is bound to the other mode", async () => {
    await (await take(backendIn(temporary.path, { mode }))).release();
    const other = mode === "kernel" ? "exclusive-create" : "kernel";
    const attempt = backendIn(temporary.path, { mode: other }).attempt(ID, { mayWait: true });
    await expect(attempt).rejects.toThrow(`${temporary.path} is bound to ${mode} locks by its file MODE`);
  });
});

describe("the mode of a lock directory", () => {
  it("the mode of a lock directory is the kernel's where there is a choice", async () => {
    const tenure = await take(backendIn(temporary.path));
    expect(tenure.inheritableFd).toEqual(expect.any(Number));
    expect(readFileSync(join(temporary.path, "MODE"), "utf8")).toBe("kernel\n");
    await tenure.release();
  });

  it("the mode of a lock directory is exclusive create where the platform has no kernel locks", async () => {
    const tenure = await take(backendIn(temporary.path, { loadKernelLocks: noKernelLocks }));
    expect(tenure.inheritableFd).toBeUndefined();
    expect(readFileSync(join(temporary.path, "MODE"), "utf8")).toBe("exclusive-create\n");
    // And stays so for those who could do better.
    expect(await isRefused(backendIn(temporary.path))).toBe(true);
    await tenure.release();
  });

  it("the mode of a lock directory is exclusive create where the filesystem refuses kernel locks", async () => {
    const refuse = (): never => {
      throw new Error("ENOLCK");
    };
    const loadKernelLocks = () => ({ tryLock: refuse, unlock: refuse });
    await (await take(backendIn(temporary.path, { loadKernelLocks }))).release();
    expect(readFileSync(join(temporary.path, "MODE"), "utf8")).toBe("exclusive-create\n");
  });

  it("the mode of a lock directory is refused by whoever cannot take such locks", async () => {
    await (await take(backendIn(temporary.path))).release();
    const attempt = backendIn(temporary.path, { loadKernelLocks: noKernelLocks }).attempt(ID, {
      mayWait: true,
    });
    await expect(attempt).rejects.toMatchObject({ permanent: true });
    await expect(attempt).rejects.toThrow(
      /is bound to kernel locks, which this process cannot take .*no binary here/,
    );
  });

  it("the mode of a lock directory is refused where it was asked for and cannot be had", async () => {
    const backend = backendIn(temporary.path, { mode: "kernel", loadKernelLocks: noKernelLocks });
    await expect(backend.attempt(ID, { mayWait: true })).rejects.toThrow(/was asked for kernel locks/);
    expect(existsSync(join(temporary.path, "MODE"))).toBe(false);
  });

  it("the mode of a lock directory is not guessed from a file that names none", async () => {
    writeFileSync(join(temporary.path, "MODE"), "best effort\n");
    await expect(backendIn(temporary.path).attempt(ID, { mayWait: true })).rejects.toThrow(
      /names no lock mode/,
    );
  });

  it("the mode of a lock directory is that of whoever writes it down first", async () => {
    class SlowerFiles extends NodeLockFiles {
      override async create(path: string, content: string): Promise<boolean> {
        if (path.endsWith("MODE")) writeFileSync(path, "exclusive-create\n");
        return super.create(path, content);
      }
    }
    const tenure = await take(backendIn(temporary.path, { files: new SlowerFiles() }));
    expect(tenure.inheritableFd).toBeUndefined();
    await tenure.release();
  });
});

describe("a kernel lock whose file is not what it seems", () => {
  it("a kernel lock whose file is not what it seems is taken on the file that others will meet, not on one that was removed meanwhile", async () => {
    const kernelLocks = loadKernelLocks();
    let isRemoving = false;
    const removing: KernelLocks = {
      ...kernelLocks,
      tryLock: (fd, options) => {
        if (isRemoving) rmSync(backend.lockFile(ID));
        return kernelLocks.tryLock(fd, options);
      },
    };
    const backend = backendIn(temporary.path, { loadKernelLocks: () => removing });
    await (await take(backend)).release();
    isRemoving = true;
    expect(await isRefused(backend)).toBe(true);
    isRemoving = false;
    await (await take(backend)).release();
  });

  it("a kernel lock whose file is not what it seems covers what a longer note left behind a shorter one", async () => {
    const backend = backendIn(temporary.path, { mode: "kernel" });
    await (await take(backend, ID, "a".repeat(200))).release();
    const tenure = await take(backend, ID, "b");
    const [note, ...rest] = readFileSync(backend.lockFile(ID), "utf8").split("\n");
    expect(JSON.parse(note!)).toMatchObject({ task: "b", released: false });
    expect(rest.join("")).toBe("");
    expect(rest.length).toBeGreaterThan(199);
    await tenure.release();
    expect(recordOf(backend.lockFile(ID))).toMatchObject({ task: "b", released: true });
  });

  it("a kernel lock whose file is not what it seems does not name the one before as its holder", async () => {
    const kernelLocks = loadKernelLocks();
    let isHeldByAnother = false;
    const tryLock: KernelLocks["tryLock"] = (fd) => !isHeldByAnother && kernelLocks.tryLock(fd);
    const backend = backendIn(temporary.path, { loadKernelLocks: () => ({ ...kernelLocks, tryLock }) });
    await (await take(backend)).release();
    isHeldByAnother = true;
    const attempt = await backend.attempt(ID, { mayWait: false });
    expect(attempt).toMatchObject({ kind: "held" });
    expect(attempt).not.toHaveProperty("holder");
    // Nor one that was killed.
    writeFileSync(
      backend.lockFile(ID),
      serializeRecord({ ...recordOf(backend.lockFile(ID)), released: false, pid: 2 ** 30 }),
    );
    expect(await backend.attempt(ID, { mayWait: false })).not.toHaveProperty("holder");
  });
});

describe("an exclusive-create lock left over", () => {
  const self = new LocalProcesses().self();
  const gone = { startTime: "1" };
  const left = (fields: Partial<LockRecord>): LockRecord => ({
    ...self,
    resourceId: ID,
    nonce: "left-over",
    task: "nightly",
    since: "2026-11-18T09:00:00.000Z",
    childPid: null,
    childStartTime: null,
    released: false,
    ...fields,
  });

  function leave(fields: Partial<LockRecord>): FileLockBackend {
    const backend = backendIn(temporary.path, { mode: "exclusive-create" });
    writeFileSync(backend.lockFile(ID), serializeRecord(left(fields)));
    return backend;
  }

  it.each<[string, Partial<LockRecord>]>([
    ["by a process whose number another has by now", gone],
    ["by a process from before the machine was started", { bootId: "an-earlier-boot" }],
    ["by a process that is gone, as is its command", { ...gone, childPid: process.pid, childStartTime: "1" }],
  ])("%s is taken over", async (_who, fields) => {
    const backend = leave(fields);
    const tenure = await take(backend);
    expect(recordOf(backend.lockFile(ID)).nonce).not.toBe("left-over");
    await tenure.release();
    expect(readdirSync(temporary.path).sort()).toEqual(["MODE", "task.nightly.fence"]);
  });

  it.each<[string, Partial<LockRecord>]>([
    ["by a process that lives", {}],
    ["on another host", { ...gone, host: "another-host" }],
    ["in another PID namespace", { ...gone, pidNamespace: "pid:[4026530000]" }],
    [
      "by a killed wrapper whose command lives",
      { ...gone, childPid: process.pid, childStartTime: self.startTime },
    ],
  ])("a left-over lock file %s is held", async (_where, fields) => {
    const backend = leave(fields);
    expect(await isRefused(backend)).toBe(true);
    expect(recordOf(backend.lockFile(ID)).nonce).toBe("left-over");
  });

  it("an exclusive-create lock left over names the command, when only that is left", async () => {
    const backend = leave({
      pid: 2 ** 22 + 1,
      ...gone,
      childPid: process.pid,
      childStartTime: self.startTime,
    });
    expect(await backend.attempt(ID, { mayWait: false })).toMatchObject({ holder: { pid: process.pid } });
  });

  it("an exclusive-create lock left over is taken over in spite of a breaker that was left over, too", async () => {
    const backend = leave(gone);
    writeFileSync(`${backend.lockFile(ID)}.breaking`, serializeRecord(left(gone)));
    await (await take(backend)).release();
    expect(readdirSync(temporary.path).sort()).toEqual(["MODE", "task.nightly.fence"]);
  });

  it("an exclusive-create lock left over is not taken over while somebody else is at it", async () => {
    const backend = leave(gone);
    writeFileSync(`${backend.lockFile(ID)}.breaking`, serializeRecord(left({})));
    expect(await isRefused(backend)).toBe(true);
  });

  it("an exclusive-create lock left over asks a person when breakers of breakers were left over", async () => {
    const backend = leave(gone);
    let path = backend.lockFile(ID);
    for (let level = 0; level < 3; level++) {
      path += ".breaking";
      writeFileSync(path, serializeRecord(left(gone)));
    }
    await expect(backend.attempt(ID, { mayWait: true })).rejects.toThrow(/left over by crashes; make sure/);
  });

  it("an exclusive-create lock left over leaves no file behind that nobody will ever look at again", async () => {
    const old = join(temporary.path, "task.nightly.lock.0123456789abcdef.aside");
    writeFileSync(old, "");
    const nextDay = () => Date.now() + 86_400_000;
    await (await take(backendIn(temporary.path, { mode: "exclusive-create", nowMs: nextDay }))).release();
    expect(existsSync(old)).toBe(false);
  });
});

describe("the release of an exclusive-create lock", () => {
  it("the release of an exclusive-create lock waits no longer than its backend is open", async () => {
    const backend = backendIn(temporary.path, { mode: "exclusive-create" });
    const tenure = await take(backend);
    const breaker = `${backend.lockFile(ID)}.breaking`;
    writeFileSync(breaker, serializeRecord({ ...recordOf(backend.lockFile(ID)), nonce: "stopped" }));
    const released = tenure.release();
    await backend.close();
    await released;
    expect(existsSync(backend.lockFile(ID))).toBe(true);
  });

  it("the release of an exclusive-create lock waits for whoever is replacing the file, and then happens", async () => {
    const backend = backendIn(temporary.path, { mode: "exclusive-create" });
    const tenure = await take(backend);
    const breaker = `${backend.lockFile(ID)}.breaking`;
    writeFileSync(breaker, serializeRecord({ ...recordOf(backend.lockFile(ID)), nonce: "busy" }));
    const released = tenure.release();
    expect(await isRefused(backendIn(temporary.path))).toBe(true);
    rmSync(breaker);
    await released;
    await (await take(backendIn(temporary.path))).release();
  });
});

describe("an exclusive-create lock on a disk that fails now and then", () => {
  class FailingFiles extends NodeLockFiles {
    failing: "create" | "answer" | "remove" | undefined;

    override async create(path: string, content: string): Promise<boolean> {
      const created = await super.create(path, content);
      if (this.failing === "create" && path.endsWith(".lock")) throw new Error("EIO");
      return created && this.failing !== "answer";
    }

    override async remove(path: string): Promise<void> {
      if ((this.failing === "create" || this.failing === "remove") && path.endsWith(".lock"))
        throw new Error("EIO");
      await super.remove(path);
    }
  }

  it("an exclusive-create lock on a disk that fails now and then knows its own file again whose creation was not confirmed", async () => {
    const files = new FailingFiles();
    const backend = backendIn(temporary.path, { mode: "exclusive-create", files });
    files.failing = "create";
    await expect(backend.attempt(ID, { mayWait: true })).rejects.toThrow("EIO");
    expect(existsSync(backend.lockFile(ID))).toBe(true);
    files.failing = undefined;
    await (await take(backend)).release();
  });

  it("an exclusive-create lock on a disk that fails now and then knows its own file though it was told that there was one already", async () => {
    const files = new FailingFiles();
    const backend = backendIn(temporary.path, { mode: "exclusive-create", files });
    files.failing = "answer";
    await (await take(backend)).release();
    expect(existsSync(backend.lockFile(ID))).toBe(false);
  });

  it("an exclusive-create lock on a disk that fails now and then takes again what it could not release, and keeps others out until then", async () => {
    const files = new FailingFiles();
    const backend = backendIn(temporary.path, { mode: "exclusive-create", files });
    const tenure = await take(backend);
    files.failing = "remove";
    await tenure.release();
    expect(await isRefused(backendIn(temporary.path))).toBe(true);
    files.failing = undefined;
    await (await take(backend)).release();
    await (await take(backendIn(temporary.path))).release();
  });
});

describe("a lock directory that may not be written to", () => {
  it("a lock directory that may not be written to is named together with what is wrong", async () => {
    // Root may write everywhere, so a place where nobody may has to do.
    const directory = process.getuid?.() === 0 ? "/proc/holdfast" : join(temporary.path, "locks");
    chmodSync(temporary.path, 0o500);
    const attempt = backendIn(directory).attempt(ID, { mayWait: true });
    await expect(attempt).rejects.toMatchObject({
      code: "lock_unavailable",
      message: expect.stringContaining(`cannot make the directory ${directory}`) as string,
    });
    chmodSync(temporary.path, 0o700);
  });
});
