import { resolve } from "node:path";
import {
  parseGateway,
  parseLocks,
  parseSnapshots,
  parseStore,
} from "../../../src/infrastructure/configuration/adapter-urls";
import { withoutPassword } from "../../../src/infrastructure/configuration/addresses";
import { SettingError } from "../../../src/infrastructure/configuration/setting-source";

describe("an address that is shown", () => {
  test.each([
    ["postgres://user:secret@host/db", "postgres://user:***@host/db"],
    ["postgres://user:s@host/db", "postgres://user:***@host/db"],
    ["postgres://user:with:colons:@host/db", "postgres://user:***@host/db"],
    ["postgres://user:with@sign@host/db", "postgres://user:***@host/db"],
    ["redis://:secret@host", "redis://:***@host"],
    ["REDIS+SENTINEL://a:secret@host", "REDIS+SENTINEL://a:***@host"],
    ["postgres://host/db?password=secret&x=1", "postgres://host/db?***"],
    ["postgres://host/db?x=1&PASSWORD=secret", "postgres://host/db?x=1&***"],
  ])("an address that is shown has nothing of its password: %s", (address, shown) => {
    const masked = withoutPassword(address);
    expect(masked).not.toMatch(/secret|colons|with|sign/);
    expect(masked.replaceAll(/password=\*\*\*(&x=1)?/gi, "***")).toBe(shown);
  });

  test.each([
    "postgres://user@host/db",
    "postgres://host:5432/db",
    "sqlite:./data/holdfast.db",
    "gs://b/p@q:r",
  ])("an address that is shown is as it was written where there is no password: %s", (address) => {
    expect(withoutPassword(address)).toBe(address);
  });
});

describe("an address that is a setting", () => {
  test("an address that is a setting is no URL of a file, and says how it is written", () => {
    expect(() => parseStore("sqlite:file:///data/x")).toThrow("write sqlite:<path>, without file://");
  });

  test.each([
    ["sqlite:", parseStore, "names no path: write sqlite:<path>"],
    ["sqlite://host/x", parseStore, "names a host: write sqlite:<path> or sqlite:///<absolute path>"],
    ["gs://UPPER", parseSnapshots, "is not gs://bucket or gs://bucket/prefix"],
  ])(
    "an address that is a setting and does not say where, is told how it is written: %s",
    (address, parse, words) => {
      expect(() => parse(address)).toThrow(words);
    },
  );

  test("an address that is a setting says which adapter, and where", () => {
    expect(parseStore("memory:")).toEqual({ kind: "memory" });
    expect(parseStore("postgresql://h/d")).toEqual({ kind: "postgres", url: "postgresql://h/d" });
    expect(parseStore("sqlite:./a b.db")).toEqual({ kind: "sqlite", file: resolve("a b.db") });
    expect(parseLocks("postgres:")).toEqual({ kind: "store" });
    expect(parseLocks("memory:")).toMatchObject({ kind: "memory" });
    expect(parseGateway("simulated:")).toEqual({ kind: "simulated" });
    expect(parseGateway("stripe:")).toEqual({ kind: "stripe" });
    expect(parseGateway("module:./mine.mjs")).toEqual({ kind: "module", file: resolve("mine.mjs") });
    expect(parseSnapshots("file:/backup")).toEqual({ kind: "directory", directory: "/backup" });
    expect(parseSnapshots("gs://bucket/a/b")).toEqual({ kind: "gcs", bucket: "bucket", prefix: "a/b" });
  });

  test.each([
    ["mysql://h/d", parseStore, "must be one of sqlite:<file>, postgres://…, memory:"],
    ["postgres://[", parseStore, "is not a URL"],
    ["zookeeper:", parseLocks, "must be one of"],
    ["paypal:", parseGateway, "must be one of simulated:, stripe:, module:<file>"],
    ["s3://b", parseSnapshots, "must be one of file:<dir>, gs://bucket/prefix"],
  ] as const)("an address that is none is refused with those that are possible: %s", (text, parse, words) => {
    expect(() => parse(text)).toThrow(SettingError);
    expect(() => parse(text)).toThrow(words);
  });

  test.each([
    ["sqlite:", parseStore],
    ["sqlite:file:///x", parseStore],
    ["sqlite://host/x", parseStore],
    ["module:", parseGateway],
    ["file:", parseSnapshots],
    ["gs://", parseSnapshots],
  ] as const)("an address that says no place is refused: %s", (text, parse) => {
    expect(() => parse(text)).toThrow(SettingError);
  });
});
