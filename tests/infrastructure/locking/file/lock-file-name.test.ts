import fc from "fast-check";
import {
  decodeLockName,
  encodeLockName,
} from "../../../../src/infrastructure/locking/file/on-disk/lock-file-name";
import { anyText } from "../../../support/fakes/any-text";

const anyId = fc.oneof(
  anyText(120),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 })
    .map((units) => String.fromCharCode(...units)),
  fc.string({ unit: fc.constantFrom("a", "A", ".", "/", ":", "%", "u", "0"), maxLength: 300 }),
);

/** As a filesystem sees names that ignores case and normalizes unicode. */
const folded = (name: string) => name.normalize("NFKC").toLowerCase();

describe("the file name of a lock", () => {
  it("the file name of a lock is readable for the ids that people choose", () => {
    expect(encodeLockName("task:nightly-report_2")).toBe("task.nightly-report_2");
  });

  it("the file name of a lock tells apart what people confuse: case, composed and decomposed letters, dots, slashes, halves of a pair", () => {
    const ids = [
      "a",
      "A",
      "\u00e9",
      "e\u0301",
      ".",
      "..",
      "../a",
      "a/",
      "",
      " ",
      ":",
      "%3a",
      "\ud83d",
      "\ude00",
    ];
    expect(new Set(ids.map((id) => folded(encodeLockName(id)))).size).toBe(ids.length);
  });

  it("the file name of a lock never leaves its directory, nor becomes too long for any filesystem", () => {
    fc.assert(
      fc.property(anyId, (id) => {
        const longest = `${encodeLockName(id)}.lock.breaking.breaking.breaking.0123456789abcdef.aside`;
        expect(longest).toMatch(/^[a-z0-9_.%-]+$/);
        expect(longest.length).toBeLessThanOrEqual(143);
      }),
    );
  });

  it("the file name of a lock differs for different ids, also where case is ignored", () => {
    fc.assert(
      fc.property(anyId, anyId, (one, other) => {
        expect(folded(encodeLockName(one)) === folded(encodeLockName(other))).toBe(one === other);
      }),
    );
  });

  it("the file name of a lock leads back to the id, unless the id was too long", () => {
    fc.assert(
      fc.property(anyId, (id) => {
        const decoded = decodeLockName(encodeLockName(id));
        expect(decoded === id || (decoded === null && id.length > 13)).toBe(true);
      }),
    );
    expect(decodeLockName(encodeLockName("x".repeat(5000)))).toBeNull();
    expect(decodeLockName("somebody else's")).toBeNull();
  });

  it("the file name of a lock differs for long ids that begin alike", () => {
    expect(encodeLockName(`${"x".repeat(500)}1`)).not.toBe(encodeLockName(`${"x".repeat(500)}2`));
  });
});
