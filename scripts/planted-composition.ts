import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Exchanges each part that the server is put together from for one that does nothing, in a copy of the built program, and
 * expects the tests of the built server to notice. A part whose exchange nobody notices might as well not be there.
 */
interface Plant {
  readonly part: string;
  /** In the built program. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** The names of the tests that have to notice, as a pattern. */
  readonly noticedBy: string;
  /** Where they are, if not among the built server's. */
  readonly tests?: string;
}

const COMPOSITION = "infrastructure/composition";
const lockless =
  "{ withLock: (resourceId, section) => new NothingLocked().withLock(resourceId, section), queues: () => [] }";
const nothingLocked =
  '\nconst { NoOpLockProvider: NothingLocked } = require("../locking/no-op-lock-provider");\nfunction unlocked() { return ' +
  `${lockless}; }\n`;

const locksOf = (kind: string, from: string, to: string, noticedBy: string): Plant => ({
  part: `the locks of ${kind}`,
  file: `${COMPOSITION}/open-locks.js`,
  from,
  to,
  noticedBy,
});

const plants: readonly Plant[] = [
  locksOf(
    "memory:",
    "return standingInLine(new in_memory_lock_provider_1.InMemoryLockProvider(settings));",
    "return standingInLine(unlocked());",
    "memory: lets callers",
  ),
  locksOf(
    "file:",
    "return { ...standingInLine(provider), file: provider };",
    "return { ...standingInLine(unlocked()), file: provider };",
    "file: lets callers",
  ),
  locksOf(
    "gs:",
    "...standingInLine(provider), probe: () => provider.records.checkBucket()",
    "...standingInLine(unlocked()), probe: () => provider.records.checkBucket()",
    "gs: lets callers",
  ),
  locksOf(
    "postgres:",
    "...standingInLine(provider), probe: () => provider.probe()",
    "...standingInLine(unlocked()), probe: () => provider.probe()",
    "postgres: lets callers",
  ),
  locksOf(
    "redis:",
    "...standingInLine(provider), probe: () => provider.records.probe()",
    "...standingInLine(unlocked()), probe: () => provider.records.probe()",
    "redis: lets callers",
  ),
  {
    part: "the locks in a sandbox",
    file: "infrastructure/sandboxes/simulated-worlds.js",
    from: "new in_memory_lock_provider_1.InMemoryLockProvider(this.settings.locks)",
    to: "new (require('../locking/no-op-lock-provider').NoOpLockProvider)(this.settings.locks)",
    noticedBy: "keeps callers apart in a sandbox",
  },
  {
    part: "the metrics of locks",
    file: `${COMPOSITION}/telemetry-module.js`,
    from: "(0, lock_metrics_1.lockMetrics)(registry)",
    to: "{ notify() {} }",
    noticedBy: "counts and logs its locks",
  },
  {
    part: "the log of locks",
    file: `${COMPOSITION}/telemetry-module.js`,
    from: "(0, lock_log_1.lockLog)(logger)",
    to: "{ notify() {} }",
    noticedBy: "counts and logs its locks",
  },
  {
    part: "the observer of the server's locks",
    file: `${COMPOSITION}/application.js`,
    from: "observer: telemetry.lockObserver",
    to: "observer: undefined",
    noticedBy: "counts and logs its locks",
  },
  {
    part: "the observer of the locks in sandboxes",
    file: `${COMPOSITION}/sandboxes-module.js`,
    from: "locks: { timeouts: container.get(tokens_1.tokens.lockTimeouts), observer: container.get(tokens_1.tokens.lockObserver) }",
    to: "locks: { timeouts: container.get(tokens_1.tokens.lockTimeouts) }",
    noticedBy: "counts and logs its locks",
  },
  {
    part: "the observer of the locks on sandboxes",
    file: `${COMPOSITION}/sandboxes-module.js`,
    from: "lease, observer: container.get(tokens_1.tokens.lockObserver)",
    to: "lease",
    noticedBy: "counts and logs its locks",
  },
  {
    part: "the log of run's lock",
    file: `${COMPOSITION}/task-telemetry.js`,
    from: "(0, lock_log_1.lockLog)(logger)",
    to: "{ notify() {} }",
    noticedBy: "makes run log its wait",
    tests: "tests/interfaces/cli/run-telemetry",
  },
  {
    part: "the metrics of run's lock",
    file: `${COMPOSITION}/task-telemetry.js`,
    from: "(0, lock_metrics_1.lockMetrics)(registry)",
    to: "{ notify() {} }",
    noticedBy: "tells of the last run",
    tests: "tests/interfaces/cli/run-telemetry",
  },
  {
    part: "the snapshots of sandboxes",
    file: `${COMPOSITION}/sandboxes-module.js`,
    from: "return new directory_snapshot_store_1.DirectorySnapshotStore(setting.directory)",
    to: "return new (require('../snapshots/memory-snapshot-store').MemorySnapshotStore)()",
    noticedBy: "snapshots over a restart",
  },
  {
    part: "the store on SQLite",
    file: `${COMPOSITION}/open-store.js`,
    from: "payments: new sqlite_payment_repository_1.SqlitePaymentRepository(sqlite)",
    to: "payments: new in_memory_payment_repository_1.InMemoryPaymentRepository()",
    noticedBy: "keeps payments",
  },
  {
    part: "the store on PostgreSQL",
    file: `${COMPOSITION}/open-store.js`,
    from: "payments: new postgres_payment_repository_1.PostgresPaymentRepository(postgres)",
    to: "payments: new in_memory_payment_repository_1.InMemoryPaymentRepository()",
    noticedBy: "started again on the same database",
  },
  {
    part: "the simulated gateway's memory on SQLite",
    file: `${COMPOSITION}/open-store.js`,
    from: "SqliteGatewayLedger.open(gatewayFileBeside(setting.file), options)",
    // Another file for each process: nothing is kept over a restart.
    to: "SqliteGatewayLedger.open(gatewayFileBeside(setting.file) + process.pid, options)",
    noticedBy: "keeps payments",
  },
  {
    part: "the store of API keys",
    file: `${COMPOSITION}/open-store.js`,
    from: "apiKeys: new sql_api_key_store_1.SqlApiKeyStore(sqlite)",
    to: "apiKeys: new in_memory_api_key_store_1.InMemoryApiKeyStore()",
    noticedBy: "knows the keys",
  },
  {
    part: "the timeouts of locks",
    file: `${COMPOSITION}/application.js`,
    from: "(0, lock_timeouts_1.policyOf)(lockTimeouts)",
    to: "() => ({ timeout: 10000, source: 'nowhere' })",
    noticedBy: "waits for a lock as long as",
  },
  {
    part: "the lock on the data directory",
    file: `${COMPOSITION}/application.js`,
    from: "await (0, data_directory_1.takeDataDirectory)",
    to: "await (async () => {})",
    noticedBy: "keeps a second server off",
  },
  {
    part: "the pass that reconciles",
    file: `${COMPOSITION}/serve.js`,
    from: "container.get(tokens_1.tokens.reconcileOperations).execute(signal)",
    to: "Promise.resolve({ done: 0, skipped: 0, failed: 0 })",
    noticedBy: "finishes by itself",
  },
  {
    part: "the pass that expires",
    file: `${COMPOSITION}/serve.js`,
    from: "container.get(tokens_1.tokens.expireAuthorizations).execute(signal)",
    to: "Promise.resolve({ done: 0, skipped: 0, failed: 0 })",
    noticedBy: "lets an authorization go by itself",
  },
  {
    part: "the probe of the locks",
    file: `${COMPOSITION}/serve.js`,
    from: "{ locks: application.lockProbe }",
    to: "{}",
    noticedBy: "is not ready while its locks",
  },
  {
    part: "the clock",
    file: "infrastructure/time/system-clock.js",
    from: "new Date()",
    to: "new Date(0)",
    noticedBy: "counts and logs its locks",
  },
];

const root = join(__dirname, "..");
/** Where the dependencies are still found. */
const place = join(root, "node_modules", ".cache", "holdfast-planted");
const pristine = join(place, "pristine");
const planted = join(place, "dist");

async function main(): Promise<void> {
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place, { recursive: true });
  cpSync(join(root, "package.json"), join(place, "package.json"));
  execFileSync(
    join(root, "node_modules/.bin/tsc"),
    ["-p", join(root, "tsconfig.build.json"), "--outDir", pristine],
    { stdio: "inherit" },
  );
  writeFileSync(
    join(pristine, COMPOSITION, "open-locks.js"),
    readFileSync(join(pristine, COMPOSITION, "open-locks.js"), "utf8") + nothingLocked,
  );
  cpSync(pristine, planted, { recursive: true });
  const unnoticed: string[] = [];
  if (!(await areGreen("."))) throw new Error("the tests fail although nothing was exchanged");
  for (const plant of plants) {
    const isNoticed = await seenWith(plant);
    process.stdout.write(`${isNoticed ? "noticed" : "NOT NOTICED"}: ${plant.part} exchanged\n`);
    if (!isNoticed) unnoticed.push(plant.part);
  }
  process.stdout.write(`${plants.length - unnoticed.length} of ${plants.length} exchanges noticed\n`);
  if (unnoticed.length > 0) process.exitCode = 1;
}

async function seenWith({ part, file, from, to, noticedBy, tests }: Plant): Promise<boolean> {
  const source = readFileSync(join(pristine, file), "utf8");
  const [before, after, ...more] = source.split(from);
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error(`${part}: ${file} has to contain this exactly once: ${from}`);
  writeFileSync(join(planted, file), before + to + after);
  try {
    return !(await areGreen(noticedBy, tests));
  } finally {
    writeFileSync(join(planted, file), source);
  }
}

/** Whether the tests of these names pass. A pattern that names none is a mistake in the list above. */
function areGreen(names: string, tests = "tests/processes/composed-server"): Promise<boolean> {
  const results = join(place, "results.json");
  const args = ["jest", tests, "-t", names, "--json", "--outputFile", results];
  return new Promise((resolve, reject) => {
    const env = {
      ...process.env,
      HOLDFAST_TEST_PROGRAM: join(planted, "main.js"),
      HOLDFAST_TEST_REQUIRE_SERVERS: "1",
    };
    const jest = spawn("npx", args, { cwd: root, env, stdio: "ignore" });
    jest.once("error", reject);
    jest.once("close", () => {
      const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(results, "utf8")) as {
        numPassedTests: number;
        numFailedTests: number;
      };
      if (numPassedTests + numFailedTests === 0) reject(new Error(`no test is called ${names}`));
      else resolve(numFailedTests === 0);
    });
  });
}

void main();
