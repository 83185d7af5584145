import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { InstalledPackage } from "../support/program/installed-package";

jest.setTimeout(180_000);

let installed: InstalledPackage;
beforeAll(async () => (installed = await InstalledPackage.install()));
afterAll(() => installed.remove());

const write = (name: string, text: string): string => installed.write(name, text);
const node = (...args: string[]): string => installed.node(...args);

const SECTION = `
  const locks = new MemoryLockProvider();
  locks.withLock("a", async ({ fencingToken }) => typeof fencingToken).then(console.log);
`;

test("holds what runs, and neither sources nor tests", () => {
  const files = readdirSync(join(installed.project, "node_modules", "holdfast"), {
    recursive: true,
    encoding: "utf8",
  });
  expect(files).toContain(join("dist", "main.js"));
  expect(files.filter((path) => /\.test\.|(?<!\.d)\.ts$|^(src|tests|bench|docs)\b/.test(path))).toEqual([]);
});

test("lends a lock to whoever requires or imports holdfast/locks", () => {
  const required = write("a.cjs", `const { MemoryLockProvider } = require("holdfast/locks"); ${SECTION}`);
  const imported = write("a.mjs", `import { MemoryLockProvider } from "holdfast/locks"; ${SECTION}`);
  expect([node(required), node(imported)]).toEqual(["bigint", "bigint"]);
});

test("loads no client of a server or of metrics before it is used", () => {
  const heavy = "prom-client|pg|ioredis|@google-cloud.storage|stripe|express|inversify";
  const loadedBy = (entry: string): string[] => {
    const script = `
      require("holdfast/${entry}");
      const found = Object.keys(require.cache).map((path) => /node_modules.(${heavy})\\b/.exec(path)?.[1]);
      console.log(JSON.stringify([...new Set(found)].filter(Boolean)));
    `;
    return JSON.parse(node(write("b.cjs", script))) as string[];
  };
  expect(loadedBy("locks")).toEqual([]);
  expect(loadedBy("gateway")).toEqual([]);
  expect(loadedBy("gateway-contract")).toEqual([]);
  // What the pattern looks for is found where it is.
  expect(loadedBy("lock-metrics")).toEqual(["prom-client"]);
});

test("keeps the former names and call forms for one version", () => {
  const script = `
    const locks = require("holdfast/locks");
    const { InMemoryLockProvider, RedisLeaseLockProvider, GcsLeaseLockProvider, FileLockProvider } = locks;
    const file = new FileLockProvider({ directory: "former-locks", mode: "exclusive-create" }, {});
    file.withLock("a", () => [
      InMemoryLockProvider === locks.MemoryLockProvider,
      RedisLeaseLockProvider === locks.RedisLockProvider,
      GcsLeaseLockProvider === locks.GcsLockProvider,
      require("node:fs").readFileSync("former-locks/MODE", "utf8").trim(),
    ]).then((found) => file.close().then(() => console.log(JSON.stringify(found))));
  `;
  expect(JSON.parse(node(write("former.cjs", script)))).toEqual([true, true, true, "exclusive-create"]);
});

test("holds an adapter of one's own to the contract of holdfast/lock-contract, under any test runner", () => {
  const script = `
    const { test } = require("node:test");
    const contract = require("holdfast/lock-contract");
    console.log(JSON.stringify(Object.keys(contract).sort()));
  `;
  expect(JSON.parse(node(write("c.cjs", script)))).toEqual(
    Object.keys(jest.requireActual<object>("../../src/lock-contract")).sort(),
  );
});

test.each(["gateway", "gateway-contract"])(
  "has for a gateway of one's own what holdfast/%s exports",
  (entry) => {
    const script = `
    import { createRequire } from "node:module";
    import * as imported from "holdfast/${entry}";
    const required = createRequire(import.meta.url)("holdfast/${entry}");
    const names = Object.keys(required).sort();
    console.log(JSON.stringify(names.every((name) => imported[name] === required[name]) && names));
  `;
    expect(JSON.parse(node(write("gateway.mjs", script)))).toEqual(
      Object.keys(jest.requireActual<object>(`../../src/${entry}`)).sort(),
    );
  },
);

test("brings a lease on virtual time for tests of one's own, and holds a record store to its contract", () => {
  const body = `
    const failed = [];
    const tests = [];
    const framework = { describe: (_name, body) => body(), it: (name, body) => tests.push([name, body]) };
    const clock = new VirtualLockClock();
    describeLeaseRecordStore(framework, {
      name: "own",
      open: () => {
        const store = new MemoryLeaseRecordStore(clock);
        return { store, another: store, putText: (id, text) => void store.putText(id, text) };
      },
      pass: (ms) => clock.advance(ms),
    });
    const all = (async () => {
      for (const [name, body] of tests) await body().catch(() => failed.push(name));
      const leases = new VirtualLeases();
      const token = await leases.process("web-1").withLock("a", async (hold) => hold.fencingToken);
      await leases.close();
      console.log(typeof token, tests.length > 10, failed.length);
    })();
  `;
  const names = "{ describeLeaseRecordStore, MemoryLeaseRecordStore, VirtualLeases, VirtualLockClock }";
  const required = write("d.cjs", `const ${names} = require("holdfast/lock-testing"); ${body}`);
  const imported = write("d.mjs", `import ${names} from "holdfast/lock-testing"; ${body}`);
  expect([node(required), node(imported)]).toEqual(["bigint true 0", "bigint true 0"]);
});

test("keeps everything else to itself", () => {
  for (const path of ["holdfast", "holdfast/dist/main.js", "holdfast/dist/domain/payment.js"]) {
    const script = `try { require("${path}") } catch (error) { console.log(error.code) }`;
    expect(node("-e", script)).toMatch(/^ERR_PACKAGE_PATH_NOT_EXPORTED$/);
  }
});

test("brings types that a strict project compiles with", () => {
  write(
    "own.ts",
    `import { FileLockProvider, PostgresLockProvider, withLocks, type LockHold, type LockProvider } from "holdfast/locks";
     import * as contract from "holdfast/lock-contract";
     const locks: LockProvider = new FileLockProvider("locks");
     export const done: Promise<bigint> = locks.withLock("a", async (hold: LockHold) => hold.fencingToken);
     export const sync: Promise<number> = locks.withLock("a", () => 42, { scope: "report" });
     export const former = new FileLockProvider({ directory: "locks" }, { timeouts: () => ({ timeout: 0, source: "here" }) });
     export const session = (url: string) => new PostgresLockProvider(url, { schema: "s" }, {});
     export { contract, withLocks };\n`,
  );
  write(
    "own-store.ts",
    `import { LeaseLockProvider, type LeaseRecordStore } from "holdfast/locks";
     import { describeLeaseRecordStore, VirtualLeases, type OpenedLeaseRecords } from "holdfast/lock-testing";
     const leases = new VirtualLeases();
     const store: LeaseRecordStore = leases.records;
     export const locks: LeaseLockProvider = leases.process("web-1", { lease: { ttlMs: 10_000 } });
     export const world: OpenedLeaseRecords = { store, another: store, putText: () => {} };
     export { describeLeaseRecordStore };\n`,
  );
  write(
    "own-gateway.ts",
    `import { money, parseCurrency, type GatewayAnswer, type OpenGateway, type OwnGateway } from "holdfast/gateway";
     import { describePaymentGateway, type GatewayUnderTest } from "holdfast/gateway-contract";
     class Bank implements OwnGateway {
       readonly has = ["moves once", "is honest about silence"] as const;
       readonly remembersKeysForMs = 86_400_000;
       authorize = (): Promise<GatewayAnswer> => this.never();
       capture = (): Promise<GatewayAnswer> => this.never();
       void = (): Promise<GatewayAnswer> => this.never();
       refund = (): Promise<GatewayAnswer> => this.never();
       private async never(): Promise<GatewayAnswer> {
         return { outcome: "not_sent", reason: "there is no bank" };
       }
     }
     const openGateway: OpenGateway = ({ bank_url }) => {
       if (bank_url === undefined) throw new Error("set bank_url");
       return new Bank();
     };
     export default openGateway;
     export const under: GatewayUnderTest = {
       name: "a bank",
       layers: ["moves once"],
       canBring: () => true,
       open: () => ({
         gateway: new Bank(),
         paymentMethod: () => "card",
         moves: async () => [{ kind: "capture", amount: money(1n, parseCurrency("EUR")).amount }],
         reserved: async () => 0n,
       }),
     };
     export { describePaymentGateway };\n`,
  );
  installed.compile(["own.ts", "own-store.ts", "own-gateway.ts"]);
});

test("is the command holdfast", () => {
  const { bin, version } = JSON.parse(
    readFileSync(join(installed.project, "node_modules", "holdfast", "package.json"), "utf8"),
  ) as { bin: { holdfast: string }; version: string };
  const main = join("node_modules", "holdfast", bin.holdfast);
  expect(readFileSync(join(installed.project, main), "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
  expect(node(main, "--version")).toBe(version);
});
