import { readdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AUDIT_FILE } from "../../../../src/infrastructure/locking/file/on-disk/audit-file";
import { FileLockProvider } from "../../../../src/infrastructure/locking/file/file-lock-provider";
import { listFileLocks } from "../../../../src/infrastructure/locking/file/inspection/list-file-locks";
import type { FileLockMode } from "../../../../src/infrastructure/locking/file/directory/lock-directory";
import { temporaryDirectory } from "../../../support/worlds/temporary-directory";

const temporary = temporaryDirectory();
const ID = "task:nightly";
const LOCK = "task.nightly.lock";
const FENCE = "task.nightly.fence";

let locks: FileLockProvider;
let warnings: string[];
const { emitWarning } = process;

beforeEach(() => {
  warnings = [];
  process.emitWarning = (warning: string | Error) => void warnings.push(String(warning));
});

afterEach(async () => {
  process.emitWarning = emitWarning;
  await locks.close();
});

const draw = (): Promise<bigint> => locks.withLock(ID, async (hold) => hold.fencingToken, { timeout: 0 });
const place = (name: string): string => join(temporary.path, name);
const kept = (name: string): string[] =>
  readdirSync(temporary.path).filter((found) => found.startsWith(`${name}.`) && found.endsWith(".damaged"));

/** The length reached the disk, the content did not. */
function zero(name: string, length = 21): void {
  writeFileSync(place(name), Buffer.alloc(length));
}

function expectReported(name: string, length: number): void {
  const [copy = ""] = kept(name);
  expect(readFileSync(place(copy))).toEqual(Buffer.alloc(length));
  const lines = readFileSync(place(AUDIT_FILE), "utf8").trimEnd().split("\n");
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { action: "set_aside", file: place(name), kept: place(copy), by: { pid: process.pid } },
  ]);
  expect(warnings).toEqual([expect.stringContaining(`${place(name)} was nothing but zeros`)]);
}

describe.each<FileLockMode>(["kernel", "exclusive-create"])("after a power failure, in %s mode,", (mode) => {
  beforeEach(async () => {
    locks = new FileLockProvider(temporary.path, { mode });
    await draw();
    // The release goes on behind the section.
    await locks.close();
    locks = new FileLockProvider(temporary.path, { mode });
  });

  it("a lock file full of zeros is set aside and reported, and the lock is taken at the first attempt", async () => {
    zero(LOCK, 300);
    await locks.withLock(
      ID,
      async (hold) => {
        hold.assertHeld();
        const other = new FileLockProvider(temporary.path);
        const refused = other.withLock(ID, async () => {}, { timeout: 0 });
        await expect(refused).rejects.toThrow(`held by pid ${process.pid}`);
        await other.close();
      },
      { timeout: 0 },
    );
    expectReported(LOCK, 300);
  });

  it("a counter full of zeros is set aside and reported, and the next fence is higher than the last", async () => {
    const before = await draw();
    zero(FENCE);
    expect(await draw()).toBeGreaterThan(before);
    expectReported(FENCE, 21);
    expect(readFileSync(place(FENCE), "utf8")).toMatch(/^\d{20}\n$/);
  });

  it("the next fence is higher than the last although the clock was set back as well", async () => {
    zero(FENCE);
    const written = new Date(Date.now() + 3_600_000);
    utimesSync(place(FENCE), written, written);
    expect(await draw()).toBeGreaterThan(BigInt(written.getTime()));
  });

  it("a lock file full of zeros is nobody's in the list", async () => {
    zero(LOCK);
    const state =
      mode === "exclusive-create" ? "abandoned" : process.platform === "linux" ? "free" : "unknown";
    expect(await listFileLocks(temporary.path)).toMatchObject([{ resourceId: ID, state, file: place(LOCK) }]);
  });

  it("zeros with something behind them are not taken for a power failure", async () => {
    writeFileSync(place(LOCK), `${"\0".repeat(40)}somebody's`);
    await expect(draw()).rejects.toThrow(`${place(LOCK)} was not written by Holdfast`);
    expect(kept(LOCK)).toEqual([]);
  });
});
