import { execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { builtProgram } from "../support/built-program";

jest.setTimeout(180_000);

const root = join(__dirname, "..", "..");
let project: string;

/** A project of somebody else's in which the packed package is installed, with the dependencies that it names. */
beforeAll(async () => {
  const built = dirname(dirname(await builtProgram()));
  project = mkdtempSync(join(tmpdir(), "holdfast-package-"));
  const modules = join(project, "node_modules");
  mkdirSync(join(modules, "holdfast"), { recursive: true });
  const packed = execFileSync(
    "npm",
    ["pack", "--silent", "--ignore-scripts", "--pack-destination", project],
    {
      cwd: built,
      encoding: "utf8",
    },
  );
  execFileSync("tar", ["-xzf", packed.trim(), "-C", "node_modules/holdfast", "--strip-components=1"], {
    cwd: project,
  });
  const { dependencies } = JSON.parse(readFileSync(join(modules, "holdfast", "package.json"), "utf8")) as {
    dependencies: Record<string, string>;
  };
  for (const name of [...Object.keys(dependencies), "@types/node"]) {
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(root, "node_modules", name), join(modules, name));
  }
});

afterAll(() => rmSync(project, { recursive: true, force: true }));

function write(name: string, text: string): string {
  writeFileSync(join(project, name), text);
  return name;
}

const node = (...args: string[]) =>
  execFileSync(process.execPath, args, { cwd: project, encoding: "utf8" }).trim();

const SECTION = `
  const locks = new InMemoryLockProvider();
  locks.withLock("a", async ({ fencingToken }) => typeof fencingToken).then(console.log);
`;

test("holds what runs, and neither sources nor tests", () => {
  const files = readdirSync(join(project, "node_modules", "holdfast"), { recursive: true, encoding: "utf8" });
  expect(files).toContain(join("dist", "main.js"));
  expect(files.filter((path) => /\.test\.|(?<!\.d)\.ts$|^(src|tests|bench|docs)\b/.test(path))).toEqual([]);
});

test("lends a lock to whoever requires or imports holdfast/locks", () => {
  const required = write("a.cjs", `const { InMemoryLockProvider } = require("holdfast/locks"); ${SECTION}`);
  const imported = write("a.mjs", `import { InMemoryLockProvider } from "holdfast/locks"; ${SECTION}`);
  expect([node(required), node(imported)]).toEqual(["bigint", "bigint"]);
});

test("loads no client of a server before its adapter is used", () => {
  const script = `
    require("holdfast/locks");
    const heavy = Object.keys(require.cache).filter((path) => /node_modules.(pg|ioredis|@google-cloud)\\b/.test(path));
    console.log(JSON.stringify(heavy));
  `;
  expect(JSON.parse(node(write("b.cjs", script)))).toEqual([]);
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

test("runs the example of the documentation, as it stands there", () => {
  const text = readFileSync(join(root, "docs", "locking.md"), "utf8");
  const [, example = ""] = /<!-- a test runs this -->\n\n```ts\n([\s\S]*?)```/.exec(text) ?? [];
  expect(example).toContain("holdfast/lock-testing");
  const file = write("example.mjs", example);
  expect(node(file)).toMatch(/^# pass [1-9]\d*$|^ℹ pass [1-9]\d*$/m);
  write("example.mts", example);
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
    `import { FileLockProvider, withLocks, type LockHold, type LockProvider } from "holdfast/locks";
     import * as contract from "holdfast/lock-contract";
     const locks: LockProvider = new FileLockProvider({ directory: "locks" });
     export const done: Promise<bigint> = locks.withLock("a", async (hold: LockHold) => hold.fencingToken);
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
    "tsconfig.json",
    JSON.stringify({
      compilerOptions: { strict: true, noEmit: true, module: "node20", target: "es2022", types: ["node"] },
      files: ["own.ts", "own-store.ts", "example.mts"],
    }),
  );
  execFileSync(join(root, "node_modules", ".bin", "tsc"), ["-p", "."], { cwd: project, encoding: "utf8" });
});

test("is the command holdfast", () => {
  const { bin, version } = JSON.parse(
    readFileSync(join(project, "node_modules", "holdfast", "package.json"), "utf8"),
  ) as { bin: { holdfast: string }; version: string };
  const main = join("node_modules", "holdfast", bin.holdfast);
  expect(readFileSync(join(project, main), "utf8")).toMatch(/^#!\/usr\/bin\/env node\n/);
  expect(node(main, "--version")).toBe(version);
});
