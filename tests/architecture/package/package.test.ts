import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { InstalledPackage } from "../../support/program/installed-package";
import { describeAtFullSize } from "../../support/servers/servers";

jest.setTimeout(180_000);

describeAtFullSize("the package, installed", () => {
  let installed: InstalledPackage;
  beforeAll(async () => (installed = await InstalledPackage.install()));
  afterAll(() => installed.remove());

  const write = (name: string, text: string): string => installed.write(name, text);
  const printed = (file: string): Promise<string> => installed.run(file);

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

  test("lends a lock to whoever requires or imports holdfast/locks", async () => {
    const required = write("a.cjs", `const { MemoryLockProvider } = require("holdfast/locks"); ${SECTION}`);
    const imported = write("a.mjs", `import { MemoryLockProvider } from "holdfast/locks"; ${SECTION}`);
    expect([await printed(required), await printed(imported)]).toEqual(["bigint", "bigint"]);
  });

  test("loads no client of a server or of metrics before it is used, and never a test runner", async () => {
    const heavy = "prom-client|pg|ioredis|@google-cloud.storage|stripe|express|inversify|@?jest[^/]*";
    const loadedBy = async (entry: string): Promise<string[]> => {
      const script = `
      require("holdfast/${entry}");
      const found = Object.keys(require.cache).map((path) => /node_modules.(${heavy})\\b/.exec(path)?.[1]);
      console.log(JSON.stringify([...new Set(found)].filter(Boolean)));
    `;
      return JSON.parse(await printed(write("b.cjs", script))) as string[];
    };
    expect(await loadedBy("locks")).toEqual([]);
    expect(await loadedBy("lock-testing")).toEqual([]);
    expect(await loadedBy("lock-contract")).toEqual([]);
    expect(await loadedBy("gateway")).toEqual([]);
    expect(await loadedBy("gateway-contract")).toEqual([]);
    // What the pattern looks for is found where it is.
    expect(await loadedBy("lock-metrics")).toEqual(["prom-client"]);
  });

  test("an in-memory lock loads fewer than 40 modules, with what is made of it", async () => {
    const script = `
    const { acquireLock, MemoryLockProvider, tryWithLock, withLocks } = require("holdfast/memory-locks");
    const locks = new MemoryLockProvider();
    const section = async () => {
      await withLocks(locks, ["a", "b"], () => undefined, { lockAtLeastFor: 1 });
      await (await acquireLock(locks, "a")).release();
      const outcome = await tryWithLock(locks, "c", () => "in");
      console.log(JSON.stringify([outcome, Object.keys(require.cache).length]));
    };
    section();
  `;
    const [outcome, modules] = JSON.parse(await printed(write("memory.cjs", script))) as [string, number];
    expect(outcome).toBe("in");
    expect(modules).toBeGreaterThan(10);
    expect(modules).toBeLessThan(40);
  });

  test("what holdfast/memory-locks exports is the same that holdfast/locks does", async () => {
    const script = `
    const [few, all] = [require("holdfast/memory-locks"), require("holdfast/locks")];
    console.log(JSON.stringify(Object.keys(few).filter((name) => few[name] !== all[name])));
  `;
    expect(JSON.parse(await printed(write("same.cjs", script)))).toEqual([]);
  });

  test("keeps the former names and call forms for one version", async () => {
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
    expect(JSON.parse(await printed(write("former.cjs", script)))).toEqual([
      true,
      true,
      true,
      "exclusive-create",
    ]);
  });

  test("holds an adapter of one's own to the contract of holdfast/lock-contract, under any test runner", async () => {
    const script = `
    const { test } = require("node:test");
    const contract = require("holdfast/lock-contract");
    console.log(JSON.stringify(Object.keys(contract).sort()));
  `;
    expect(JSON.parse(await printed(write("c.cjs", script)))).toEqual(
      Object.keys(jest.requireActual<object>("../../../src/lock-contract")).sort(),
    );
  });

  test.each(["gateway", "gateway-contract"])(
    "has for a gateway of one's own what holdfast/%s exports",
    async (entry) => {
      const script = `
    import { createRequire } from "node:module";
    import * as imported from "holdfast/${entry}";
    const required = createRequire(import.meta.url)("holdfast/${entry}");
    const names = Object.keys(required).sort();
    console.log(JSON.stringify(names.every((name) => imported[name] === required[name]) && names));
  `;
      expect(JSON.parse(await printed(write("gateway.mjs", script)))).toEqual(
        Object.keys(jest.requireActual<object>(`../../../src/${entry}`)).sort(),
      );
    },
  );

  test("brings a lease on virtual time for tests of one's own, and holds a record store to its contract", async () => {
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
    expect([await printed(required), await printed(imported)]).toEqual(["bigint true 0", "bigint true 0"]);
  });

  test("captures a payment in a process of one's own, required or imported", async () => {
    const life = `
    (async () => {
      const holdfast = await openHoldfast({ store: "memory:", logLevel: "silent" });
      const { answer } = await holdfast.payments.authorize({
        idempotencyKey: "o", amount: 1250, currency: "EUR", paymentMethod: "tok_ok",
      });
      const moved = await holdfast.payments.capture({ paymentId: answer.payment.id, idempotencyKey: "c" });
      await holdfast.close();
      console.log(moved.answer.payment.status);
    })();
  `;
    const required = write("e.cjs", `const { openHoldfast } = require("holdfast"); ${life}`);
    const imported = write("e.mjs", `import { openHoldfast } from "holdfast"; ${life}`);
    expect([await printed(required), await printed(imported)]).toEqual(["captured", "captured"]);
  });

  test("loads nothing but Node for a client", async () => {
    const script = `
    require("holdfast/client");
    console.log(JSON.stringify(Object.keys(require.cache).filter((path) => !/node_modules.holdfast.dist/.test(path))));
  `;
    expect(JSON.parse(await printed(write("client.cjs", script)))).toEqual([
      expect.stringMatching(/client\.cjs$/),
    ]);
  });

  const SHOP = `import { FileKeys, HoldfastClient, HoldfastRefusal, verifyWebhook, type Event, type Payment } from "holdfast/client";
import { openHoldfast, type Holdfast, type HoldfastOptions } from "holdfast";
const shop = new HoldfastClient("http://127.0.0.1:8080", { keys: new FileKeys("keys"), apiKey: "hf_" });
export async function capture(id: string): Promise<Payment> {
  const { answer } = await (await shop.payments.capture("order 17", id, { amount: 100 })).waitUntilSettled();
  return answer.payment;
}
export const event = (body: string, headers: Headers): Event => verifyWebhook({ body, headers }, { secret: "whsec_" });
export const options: HoldfastOptions = { store: "memory:" };
export const own: Promise<Holdfast> = openHoldfast(options);
export const isRefusal = (error: unknown): boolean => error instanceof HoldfastRefusal && error.code === "capture_declined";\n`;

  test.each(["nodenext", "bundler"] as const)(
    "brings types for client and embedding that a project with %s compiles",
    (kind) => {
      write("shop.ts", SHOP);
      // That the declarations are right by themselves does not depend on how they are found.
      installed.compile(["shop.ts"], kind);
    },
  );

  test("keeps everything else to itself", async () => {
    const script = `
    for (const path of ["holdfast/dist/main.js", "holdfast/dist/domain/payment.js"])
      try { require(path) } catch (error) { console.log(error.code) }
  `;
    const code = "ERR_PACKAGE_PATH_NOT_EXPORTED";
    expect(await printed(write("inside.cjs", script))).toBe(`${code}\n${code}`);
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
    write("shop.ts", SHOP);
    installed.compile(["own.ts", "own-store.ts", "own-gateway.ts", "shop.ts"]);
  });

  test("is the command holdfast", () => {
    const { bin, version } = JSON.parse(
      readFileSync(join(installed.project, "node_modules", "holdfast", "package.json"), "utf8"),
    ) as { bin: { holdfast: string }; version: string };
    const main = join("node_modules", "holdfast", bin.holdfast);
    expect(readFileSync(join(installed.project, main), "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
    expect(installed.node(main, "--version")).toBe(version);
  });
});
