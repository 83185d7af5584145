import * as fc from "fast-check";
import { parseGcsLockLocation } from "../../../../../src/infrastructure/gcs/gcs-location";
import {
  gcsObjectName,
  resourceIdOfGcsObject,
} from "../../../../../src/infrastructure/locking/lease/gcs/gcs-object-name";
import { anyText } from "../../../../support/fakes/any-text";

describe("the object of a lock", () => {
  test("an ordinary id can be read in the bucket", () => {
    expect(gcsObjectName("locks/", "payment:018f9c1e-7d1c")).toBe("locks/payment:018f9c1e-7d1c.json");
  });

  test.each([
    "..",
    "../other",
    "a/b",
    "a b",
    "a\nb",
    "",
    "Ä",
    "日本",
    "%2E",
    "\ud800",
    "*",
    "#1",
    ".well-known",
  ])("the id %j gets a name of its own that stays where it is, and back", (id) => {
    const name = gcsObjectName("", id);
    expect(name).toMatch(/^[A-Za-z0-9._~@:=+,%-]*\.json$/);
    expect(resourceIdOfGcsObject("", name)).toBe(id);
  });

  test("no two ids share a name, whatever is in them", () => {
    const id = anyText(30);
    fc.assert(
      fc.property(id, id, (one, other) => {
        expect(gcsObjectName("p/", one) === gcsObjectName("p/", other)).toBe(one === other);
        expect(resourceIdOfGcsObject("p/", gcsObjectName("p/", one))).toBe(one);
      }),
    );
  });

  test("an id of any length fits into a name, and long ids differ too", () => {
    const longest = parseGcsLockLocation(`gs://locks/${"p".repeat(400)}`).prefix;
    for (const length of [1, 500, 507, 508, 600, 2_000]) {
      const [folder = "", last = ""] = gcsObjectName(longest, "x".repeat(length)).split("/");
      expect(folder.length).toBeLessThanOrEqual(512);
      expect(last.length).toBeLessThanOrEqual(512);
    }
    const one = gcsObjectName("p/", `${"é".repeat(2_000)}1`);
    const other = gcsObjectName("p/", `${"é".repeat(2_000)}2`);
    expect(one).not.toBe(other);
    expect(resourceIdOfGcsObject("p/", one)).toBeNull();
  });

  test("what lies beside the locks is not taken for one", () => {
    expect(resourceIdOfGcsObject("p/", "q/a.json")).toBeNull();
    expect(resourceIdOfGcsObject("p/", "p/a.txt")).toBeNull();
    expect(resourceIdOfGcsObject("p/", "p/a/b.json")).toBeNull();
    expect(resourceIdOfGcsObject("p/", "p/%zz.json")).toBeNull();
  });
});

describe("gs://", () => {
  test.each([
    ["gs://locks", { bucket: "locks", prefix: "" }],
    ["gs://locks/", { bucket: "locks", prefix: "" }],
    ["gs://locks/jobs", { bucket: "locks", prefix: "jobs/" }],
    ["gs://locks.example.com/a/b/", { bucket: "locks.example.com", prefix: "a/b/" }],
  ])("the location %s is understood as bucket and prefix", (url, location) => {
    expect(parseGcsLockLocation(url)).toEqual(location);
  });

  test.each([
    "gs:/locks",
    "s3://locks",
    "gs://",
    "gs:///a",
    "gs://Locks",
    "gs://locks/a//b",
    "gs://locks/a?b",
    "gs://locks/.well-known/acme-challenge",
    `gs://locks/${"a".repeat(401)}`,
  ])("%s is refused in words", (url) => {
    expect(() => parseGcsLockLocation(url)).toThrow(RangeError);
  });
});
