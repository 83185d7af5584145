import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { FileKeys, MemoryKeys, type KeyPlace } from "../../../src/client";
import { joinedScript } from "../../support/program/joined-script";
import { size } from "../../support/test-size";

let directory: string;
beforeEach(() => void (directory = mkdtempSync(join(tmpdir(), "holdfast-keys-"))));
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const filesIn = (place: string): string[] => readdirSync(place).filter((name) => name !== ".drafts");

const places: readonly (readonly [string, () => KeyPlace])[] = [
  ["memory", () => new MemoryKeys()],
  ["a directory", () => new FileKeys(join(directory, "keys"))],
];

describe.each(places)("keys in %s", (_, open) => {
  test("are those that came first, by name", async () => {
    const keys = open();
    expect(await keys.keep("a", "1")).toBe("1");
    expect(await keys.keep("a", "2")).toBe("1");
    expect(await keys.keep("../b c\0", "3")).toBe("3");
  });

  test("are the same for all that ask at once", async () => {
    const keys = open();
    const asked = Array.from({ length: 20 }, (_none, n) => keys.keep("a", `fresh-${n}`));
    expect(new Set(await Promise.all(asked)).size).toBe(1);
  });
});

test("a process that may create files and not write them leaves nothing that is taken for a key", async () => {
  const script = joinedScript(
    join(__dirname, "..", "..", "support", "children", "client", "file-keys-child.ts"),
  );
  const limited = `ulimit -f 0; exec "$0" "$@"`;
  const { stdout, status, signal } = spawnSync(
    "sh",
    ["-c", limited, process.execPath, script, directory, "lost"],
    { encoding: "utf8" },
  );
  expect({ stdout, failed: status !== 0 || signal !== null }).toEqual({ stdout: "", failed: true });
  expect(await new FileKeys(directory).keep("order 0", "new")).toBe("new");
});

test("keys in a directory outlive whoever stored them, and leave nothing else there", async () => {
  await new FileKeys(directory).keep("a", "1");
  expect(await new FileKeys(directory).keep("a", "2")).toBe("1");
  expect(filesIn(directory)).toHaveLength(1);
});

test("drafts that crashes have left are removed, those of others that are at work are not, and neither is taken for a key", async () => {
  await new FileKeys(directory).keep("a", "1");
  const drafts = join(directory, ".drafts");
  const [left, young] = [join(drafts, "left.draft"), join(drafts, "young.draft")];
  for (const draft of [left, young]) writeFileSync(draft, '{"name":"b","ke');
  const twoHoursAgo = new Date(Date.now() - 7_200_000);
  utimesSync(left, twoHoursAgo, twoHoursAgo);

  const keys = new FileKeys(directory);
  expect([await keys.keep("a", "2"), await keys.keep("b", "3")]).toEqual(["1", "3"]);

  expect([existsSync(left), existsSync(young)]).toEqual([false, true]);
});

test("a process that is killed again and again while it stores keys leaves none that cannot be read", async () => {
  const script = joinedScript(
    join(__dirname, "..", "..", "support", "children", "client", "file-keys-child.ts"),
  );
  const place = join(directory, "keys");
  const told = new Map<string, string>();
  const rounds = size(5, 2);
  for (let round = 0; round < rounds; round += 1) {
    const child = spawn(process.execPath, [script, place, `round-${round}`], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = once(child, "exit");
    let lines = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      const [n = "", key = ""] = line.split(" ");
      // Whoever was told a key has sent with it: nobody may be told another one.
      expect([n, told.get(n) ?? key]).toEqual([n, key]);
      told.set(n, key);
      if ((lines += 1) === 40 * (round + 1)) child.kill("SIGKILL");
    }
    await ended;
  }
  expect(told.size).toBeGreaterThanOrEqual(40 * rounds);
  const keys = new FileKeys(place);
  for (const [n, key] of told) expect(await keys.keep(`order ${n}`, "new")).toBe(key);
});

test("a directory that was removed under its owner is made again by the call after the one that noticed", async () => {
  const keys = new FileKeys(directory);
  await keys.keep("a", "1");
  rmSync(directory, { recursive: true });
  await expect(keys.keep("b", "2")).rejects.toThrow("ENOENT");
  expect(await keys.keep("b", "2")).toBe("2");
});

test.each(["", "{}", "[]", "null", '{"name":"a","key":null}', '{"name":"b","key":"1"}'])(
  "a file of a key that was damaged is told, and never replaced: %j",
  async (text) => {
    await new FileKeys(directory).keep("a", "1");
    const [file = ""] = filesIn(directory);
    writeFileSync(join(directory, file), text);
    await expect(new FileKeys(directory).keep("a", "2")).rejects.toThrow(new RegExp(`${file} is damaged`));
  },
);

test("keys in a directory that could not be made can be kept once it can be", async () => {
  const place = join(directory, "in-the-way");
  writeFileSync(place, "");
  const keys = new FileKeys(join(place, "keys"));
  await expect(keys.keep("a", "1")).rejects.toThrow("ENOTDIR");
  rmSync(place);
  expect(await keys.keep("a", "1")).toBe("1");
});
