import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FileKeys, MemoryKeys, type KeyPlace } from "../../../src/client";

let directory: string;
beforeEach(() => void (directory = mkdtempSync(join(tmpdir(), "holdfast-keys-"))));
afterEach(() => rmSync(directory, { recursive: true, force: true }));

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

test("keys in a directory outlive whoever stored them, and leave nothing else there", async () => {
  await new FileKeys(directory).keep("a", "1");
  expect(await new FileKeys(directory).keep("a", "2")).toBe("1");
  expect(readdirSync(directory)).toHaveLength(1);
});

test.each(["", "{}", "[]", "null", '{"name":"a","key":null}', '{"name":"b","key":"1"}'])(
  "a file of a key that was damaged is told, and never replaced: %j",
  async (text) => {
    await new FileKeys(directory).keep("a", "1");
    const [file = ""] = readdirSync(directory);
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
