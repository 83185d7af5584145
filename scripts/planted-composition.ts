import { execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join, relative } from "node:path";

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

const OPENING = "infrastructure/composition/opening";
const COMMANDS = "infrastructure/composition/commands";
const SERVER = "infrastructure/composition/container/server-module.js";
const LOCKING = "infrastructure/locking";

/** Beside the built program: a provider that is the given one, except that it lets everybody in. */
const unlocked = `const { NoOpLockProvider } = require("./${LOCKING}/none/no-op-lock-provider");
exports.unlocked = (provider) => Object.assign(Object.create(provider), {
  withLock: (resourceId, section) => new NoOpLockProvider().withLock(resourceId, section),
  queues: () => [],
});
`;

const locksOf = (kind: string, file: string, provider: string): Plant => ({
  part: `the locks of ${kind}`,
  file: `${LOCKING}/${file}`,
  from: `const provider = ${provider};`,
  to: `const provider = require("${relative(dirname(`${LOCKING}/${file}`), "unlocked")}").unlocked(${provider});`,
  noticedBy: `${kind} lets callers`,
});

const BUILT_WEBHOOKS = "tests/processes/webhooks/built-server";

const webhooksWithout = (part: string, from: string, to: string, noticedBy: string): Plant => ({
  part,
  file: `${OPENING}/open-webhooks.js`,
  from,
  to,
  noticedBy,
  tests: BUILT_WEBHOOKS,
});

const BUILT_HINTS = "tests/processes/gateway-events";

const hintsWithout = (part: string, from: string, to: string, noticedBy: string): Plant => ({
  part,
  file: `${OPENING}/open-hints.js`,
  from,
  to,
  noticedBy,
  tests: BUILT_HINTS,
});

/** Named on the command line: only the parts whose names match. */
const wanted = new RegExp(process.argv[2] ?? "");

const plants: readonly Plant[] = [
  locksOf("memory:", "memory/memory-lock-kind.js", "new memory_lock_provider_1.MemoryLockProvider(settings)"),
  locksOf(
    "file:",
    "file/file-lock-kind.js",
    "new file_lock_provider_1.FileLockProvider(directory, { ...settings, ...(mode && { mode }) })",
  ),
  locksOf("gs:", "lease/gcs/gcs-lock-kind.js", "new gcs_lock_provider_1.GcsLockProvider(location, settings)"),
  locksOf(
    "postgres:",
    "postgres/postgres-lock-kind.js",
    "new postgres_lock_provider_1.PostgresLockProvider(url, settings)",
  ),
  locksOf(
    "redis:",
    "lease/redis/redis-lock-kind.js",
    "new redis_lock_provider_1.RedisLockProvider(url, settings)",
  ),
  {
    part: "the locks in a sandbox",
    file: "infrastructure/sandboxes/simulated-worlds.js",
    from: "new memory_lock_provider_1.MemoryLockProvider(this.settings.locks)",
    to: "new (require('../locking/none/no-op-lock-provider').NoOpLockProvider)(this.settings.locks)",
    noticedBy: "keeps callers apart in a sandbox",
  },
  {
    part: "the metrics of locks",
    file: `${OPENING}/open-telemetry.js`,
    from: "(0, lock_metrics_1.lockMetrics)(metrics)",
    to: "{ notify() {} }",
    noticedBy: "counts and logs its locks",
  },
  {
    part: "the log of locks",
    file: `${OPENING}/open-telemetry.js`,
    from: "(0, lock_log_1.lockLog)(logger)",
    to: "{ notify() {} }",
    noticedBy: "counts and logs its locks",
  },
  {
    part: "the observer of the server's locks",
    file: `${OPENING}/open-application.js`,
    from: "observer: telemetry.lockObserver",
    to: "observer: undefined",
    noticedBy: "counts and logs its locks",
  },
  {
    part: "the observer of the locks in sandboxes",
    file: `${OPENING}/open-sandboxes.js`,
    from: "maxPayments: settings.sandboxPayments.value,\n                locks,",
    to: "maxPayments: settings.sandboxPayments.value, locks: { ...locks, observer: undefined },",
    noticedBy: "counts and logs its locks",
  },
  {
    part: "the observer of the locks on sandboxes",
    file: `${OPENING}/open-sandboxes.js`,
    from: "{ ...locks, lease }",
    to: "{ ...locks, observer: undefined, lease }",
    noticedBy: "counts and logs its locks",
  },
  {
    part: "the log of run's lock",
    file: `${COMMANDS}/task-telemetry.js`,
    from: "(0, lock_log_1.lockLog)(logger)",
    to: "{ notify() {} }",
    noticedBy: "makes run log its wait",
    tests: "tests/interfaces/cli/run/run-telemetry",
  },
  {
    part: "the metrics of run's lock",
    file: `${COMMANDS}/task-telemetry.js`,
    from: "(0, lock_metrics_1.lockMetrics)(registry)",
    to: "{ notify() {} }",
    noticedBy: "tells of the last run",
    tests: "tests/interfaces/cli/run/run-telemetry",
  },
  {
    part: "the sessions of the console",
    file: `${OPENING}/open-store.js`,
    from: "consoleSessions: new sql_console_session_store_1.SqlConsoleSessionStore(sqlite)",
    to: "consoleSessions: { begin: async () => {}, keyOf: async () => null, end: async () => {} }",
    noticedBy: "a session of the console outlives",
    tests: "tests/interfaces/console/built-server",
  },
  {
    part: "the last use of keys",
    file: `${OPENING}/open-store.js`,
    from: "() => performance.now(), clock)",
    to: "() => performance.now(), undefined)",
    noticedBy: "a session of the console outlives",
    tests: "tests/interfaces/console/built-server",
  },
  {
    part: "the snapshots of sandboxes",
    file: `${OPENING}/open-sandboxes.js`,
    from: "return new directory_snapshot_store_1.DirectorySnapshotStore(setting.directory)",
    to: "return new (require('../../snapshots/memory-snapshot-store').MemorySnapshotStore)()",
    noticedBy: "snapshots over a restart",
  },
  {
    part: "the store on SQLite",
    file: `${OPENING}/open-store.js`,
    from: "payments = new sqlite_payment_repository_1.SqlitePaymentRepository(sqlite, onPublished)",
    to: "payments = new in_memory_payment_repository_1.InMemoryPaymentRepository()",
    noticedBy: "keeps payments",
  },
  {
    part: "the store on PostgreSQL",
    file: `${OPENING}/open-store.js`,
    from: "payments = new postgres_payment_repository_1.PostgresPaymentRepository(postgres, onPublished)",
    to: "payments = new in_memory_payment_repository_1.InMemoryPaymentRepository()",
    noticedBy: "started again on the same database",
  },
  {
    part: "the simulated gateway's memory on SQLite",
    file: `${OPENING}/open-store.js`,
    from: "SqliteGatewayLedger.open(gatewayFileBeside(setting.file), options)",
    // Another file for each process: nothing is kept over a restart.
    to: "SqliteGatewayLedger.open(gatewayFileBeside(setting.file) + process.pid, options)",
    noticedBy: "keeps payments",
  },
  {
    part: "the gateway of a module",
    file: `${OPENING}/open-gateway.js`,
    from: "() => openGatewayModule(file, options)",
    to: "() => openGatewayModule(file, {})",
    noticedBy: "given its options",
    tests: "tests/interfaces/cli/gateway-module",
  },
  {
    part: "the store of API keys",
    file: `${OPENING}/open-store.js`,
    from: "apiKeys: remembered(new sql_api_key_store_1.SqlApiKeyStore(sqlite),",
    to: "apiKeys: remembered(new in_memory_api_key_store_1.InMemoryApiKeyStore(),",
    noticedBy: "knows the keys",
  },
  {
    part: "the timeouts of locks",
    file: `${OPENING}/open-application.js`,
    from: "(0, lock_timeouts_1.policyOf)(lockTimeouts)",
    to: "() => ({ timeout: 10000, source: 'nowhere' })",
    noticedBy: "waits for a lock as long as",
  },
  {
    part: "the lock on the data directory",
    file: `${OPENING}/open-application.js`,
    from: "await (0, data_directory_1.takeDataDirectory)",
    to: "await (async () => {})",
    noticedBy: "keeps a second server off",
  },
  {
    part: "the pass that reconciles",
    file: SERVER,
    from: "reconcile.execute(signal)",
    to: "Promise.resolve({ done: 0, skipped: 0, failed: 0 })",
    noticedBy: "finishes by itself",
  },
  {
    part: "the pass that expires",
    file: SERVER,
    from: "expire.execute(signal)",
    to: "Promise.resolve({ done: 0, skipped: 0, failed: 0 })",
    noticedBy: "lets an authorization go by itself",
  },
  {
    part: "the probe of the locks",
    file: SERVER,
    from: "payments.ping(), locks, gateway }",
    to: "payments.ping(), gateway }",
    noticedBy: "is not ready while its locks",
  },
  webhooksWithout(
    "the sender of webhooks",
    "new undici_webhook_sender_1.UndiciWebhookSender(allowed);",
    "{ send: async () => ({ result: 'delivered', status: 200, failure: null, retryAfterMs: null, answer: '', tookMs: 0 }), close: async () => {} };",
    "from memory",
  ),
  webhooksWithout(
    "the dispatch of webhooks",
    "start: () => dispatch.start()",
    "start: () => {}",
    "from memory",
  ),
  webhooksWithout(
    "the metrics of webhooks",
    "(0, webhook_telemetry_1.webhookTelemetry)(registry, logger)",
    "{ attempted() {}, disabled() {}, failed() {} }",
    "from memory",
  ),
  webhooksWithout(
    "the bounds of where webhooks go",
    "settings.webhooksAllow.value",
    "{ http: true, private: true }",
    "nowhere but where it may",
  ),
  webhooksWithout(
    "the sender of sandboxes",
    "sender: sandboxSender",
    "sender: { send: () => new Promise(() => {}) }",
    "of a sandbox by its own clock",
  ),
  {
    part: "the file with the key of secrets",
    file: `${OPENING}/open-secrets.js`,
    from: "(0, secrets_key_file_1.secretsKeysInFile)((0, open_store_1.secretsKeyFileBeside)(store.value.file), { mayBeMade: !isNeeded })",
    to: "(0, secrets_keys_1.parseSecretsKeys)('0'.repeat(64), 'nowhere')",
    noticedBy: "from SQLite, over a kill and a restart",
    tests: BUILT_WEBHOOKS,
  },
  webhooksWithout("the look at stored secrets", "await assertReadable();", "", "says so with status 78"),
  {
    part: "the webhooks on SQLite",
    file: `${OPENING}/open-store.js`,
    from: "new sqlite_webhook_store_1.SqliteWebhookStore(sqlite, onPublished)",
    to: "new in_memory_webhook_store_1.InMemoryWebhookStore(() => {})",
    noticedBy: "from SQLite, over a kill and a restart",
    tests: BUILT_WEBHOOKS,
  },
  {
    part: "the webhooks on PostgreSQL",
    file: `${OPENING}/open-store.js`,
    from: "new postgres_webhook_store_1.PostgresWebhookStore(postgres, onPublished)",
    to: "new in_memory_webhook_store_1.InMemoryWebhookStore(() => {})",
    noticedBy: "with a key that all instances share",
    tests: BUILT_WEBHOOKS,
  },
  hintsWithout("the work on hints", "work.start();", "", "as soon as Stripe's webhook"),
  hintsWithout(
    "the reading of the gateway's events behind hints",
    "catchingUp?.start();",
    "",
    "without webhooks",
  ),
  hintsWithout(
    "the metrics of hints",
    "(0, hint_telemetry_1.hintTelemetry)(registry, container.get(tokens_1.tokens.logger))",
    "{ received() {}, worked() {}, dropped() {}, droppedBeyondLimit() {}, failed() {} }",
    "as soon as Stripe's webhook",
  ),
  {
    part: "the secrets that sign hints",
    file: `${OPENING}/open-gateway.js`,
    from: "new StripeWebhook(secrets)",
    to: "new StripeWebhook([...secrets, 'whsec_somebody_elses_secret_00'])",
    noticedBy: "as soon as Stripe's webhook",
    tests: BUILT_HINTS,
  },
  {
    part: "the hints on SQLite",
    file: `${OPENING}/open-store.js`,
    from: "new sqlite_hint_store_1.SqliteHintStore(sqlite)",
    to: "new in_memory_hint_store_1.InMemoryHintStore()",
    noticedBy: "over a kill, on SQLite",
    tests: BUILT_HINTS,
  },
  {
    part: "the hints on PostgreSQL",
    file: `${OPENING}/open-store.js`,
    from: "new postgres_hint_store_1.PostgresHintStore(postgres)",
    to: "new in_memory_hint_store_1.InMemoryHintStore()",
    noticedBy: "that one server has taken",
    tests: BUILT_HINTS,
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
/** Most of the time the tests wait for processes: with as many lanes as cores, cores would be idle. */
const LANES = availableParallelism() + 1;

async function main(): Promise<void> {
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place, { recursive: true });
  cpSync(join(root, "package.json"), join(place, "package.json"));
  execFileSync(
    join(root, "node_modules/.bin/tsc"),
    ["-p", join(root, "tsconfig.build.json"), "--outDir", pristine],
    { stdio: "inherit" },
  );
  writeFileSync(join(pristine, "unlocked.js"), unlocked);
  const lanes = Array.from({ length: LANES }, (_, index) => new Lane(index));
  // A list that no longer fits the program is found now, and not after half of it.
  for (const plant of plants) exchanged(plant);
  if (process.argv[2] === undefined && !(await lanes[0]!.areGreen(".")))
    throw new Error("the tests fail although nothing was exchanged");
  const chosen = plants.filter(({ part }) => wanted.test(part));
  const left = [...chosen];
  const unnoticed: string[] = [];
  const work = async (lane: Lane): Promise<void> => {
    for (let plant = left.shift(); plant !== undefined; plant = left.shift()) {
      const isNoticed = await lane.seesWith(plant);
      process.stdout.write(`${isNoticed ? "noticed" : "NOT NOTICED"}: ${plant.part} exchanged\n`);
      if (!isNoticed) unnoticed.push(plant.part);
    }
  };
  await Promise.all(lanes.map(work));
  process.stdout.write(`${chosen.length - unnoticed.length} of ${chosen.length} exchanges noticed\n`);
  if (unnoticed.length > 0) process.exitCode = 1;
}

/** A copy of the built program in which one part at a time is exchanged. */
class Lane {
  private readonly planted: string;
  private readonly results: string;

  constructor(index: number) {
    const folder = join(place, `lane-${index}`);
    mkdirSync(folder);
    cpSync(join(root, "package.json"), join(folder, "package.json"));
    this.planted = join(folder, "dist");
    this.results = join(folder, "results.json");
    cpSync(pristine, this.planted, { recursive: true });
  }

  async seesWith(plant: Plant): Promise<boolean> {
    writeFileSync(join(this.planted, plant.file), exchanged(plant));
    try {
      return !(await this.areGreen(plant.noticedBy, plant.tests));
    } finally {
      cpSync(join(pristine, plant.file), join(this.planted, plant.file));
    }
  }

  /** Whether the tests of these names pass. A pattern that names none is a mistake in the list above. */
  areGreen(names: string, tests = "tests/processes/composed-server"): Promise<boolean> {
    // A test that fails may leave behind what it would have ended.
    const args = ["jest", tests, "-t", names, "--forceExit", "--json", "--outputFile", this.results];
    return new Promise((resolve, reject) => {
      const env = {
        ...process.env,
        HOLDFAST_TEST_PROGRAM: join(this.planted, "main.js"),
        HOLDFAST_TEST_REQUIRE_SERVERS: "1",
      };
      const jest = spawn("npx", args, { cwd: root, env, stdio: "ignore" });
      jest.once("error", reject);
      jest.once("close", () => {
        const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(this.results, "utf8")) as {
          numPassedTests: number;
          numFailedTests: number;
        };
        if (numPassedTests + numFailedTests === 0) reject(new Error(`no test is called ${names}`));
        else resolve(numFailedTests === 0);
      });
    });
  }
}

function exchanged({ part, file, from, to }: Plant): string {
  const [before, after, ...more] = readFileSync(join(pristine, file), "utf8").split(from);
  if (before === undefined || after === undefined || more.length > 0)
    throw new Error(`${part}: ${file} has to contain this exactly once: ${from}`);
  return before + to + after;
}

void main();
