import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  ConfigurationError,
  configurationEntries,
  defaultLocks,
  defaultTaskLockDirectory,
  locksBackend,
  readConfiguration,
} from "../../../src/infrastructure/configuration/configuration";
import { policyOf } from "../../../src/infrastructure/configuration/lock-timeouts";
import { settings, type SettingName } from "../../../src/infrastructure/configuration/settings";

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "holdfast-configuration-"))));
afterEach(() => rmSync(folder, { recursive: true }));

function file(toml: string): string {
  const path = join(folder, "holdfast.toml");
  writeFileSync(path, toml);
  return path;
}

function mistakesOf(act: () => unknown): ConfigurationError {
  try {
    act();
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
    throw error;
  }
  throw new Error("nothing was refused");
}

/** Two different good values and a bad one for each setting. */
const samples: Record<SettingName, readonly [string, string, string, string]> = {
  store: ["memory:", "sqlite:/a.db", "postgres://h/d", "nosuch:x"],
  acceptLostLog: ["true", "false", "1", "maybe"],
  storeConnections: ["5", "20", "1", "0"],
  locks: ["memory:", "file:/locks", "redis://h", "zookeeper:"],
  allowUnlocked: ["true", "false", "1", "maybe"],
  gateway: ["stripe:", "simulated:", "module:./own.mjs", "cash:"],
  stripeUrl: ["http://a", "http://b", "http://c", "ftp://x"],
  snapshots: ["file:/a", "file:/b", "gs://bucket/x", "s3://x"],
  host: ["::1", "localhost", "10.0.0.1", "not a host"],
  port: ["1", "2", "3", "65536"],
  advertise: ["http://a", "http://b", "http://c", "a:1"],
  shutdownDelay: ["1", "0", "3", "-1"],
  passInterval: ["2", "0", "3", "soon"],
  sandboxLimit: ["2", "0", "3", "-1"],
  sandboxPayments: ["2", "1", "3", "0"],
  sandboxIdle: ["2", "1", "3", "soon"],
  logLevel: ["debug", "warn", "silent", "loud"],
  trace: ["http://a:4318", "https://b", "http://c", "a:4318"],
  metricsFile: ["/a.prom", "/b.prom", "/c.prom", "/a.txt"],
  url: ["http://a", "http://b", "http://c", "a"],
  apiKey: ["k1", "k2", "k3", "with space"],
  webhooksAllow: ["http", "private", "http,private", "everything"],
  gatewayCatchUp: ["0", "60", "86400", "-1"],
  stripeWebhookSecrets: [
    `whsec_${"a".repeat(32)}`,
    `whsec_${"b".repeat(32)}`,
    `whsec_${"c".repeat(32)}, whsec_${"d".repeat(32)}`,
    "sk_test_abcdefghijklmnopqrstuvwxyz",
  ],
  secretsKey: ["a".repeat(64), "b".repeat(64), `${"c".repeat(64)},${"d".repeat(64)}`, "tooshort"],
  stripeApiKey: ["s1", "s2", "s3", "with space"],
};
const names = Object.keys(settings) as SettingName[];

describe.each(names)("the setting %s", (name) => {
  const { flag, environment, fallback } = settings[name];
  const [fromFlag, fromEnvironment, fromFile, junk] = samples[name];

  test("a setting comes from its flag, then the environment, then the file, then its default", () => {
    const config = file(`"${flag}" = "${fromFile}"\n`);
    const all = { flags: { config, [flag]: fromFlag }, environment: { [environment]: fromEnvironment } };
    const read = (sources: typeof all) => {
      const { text, source } = readConfiguration(sources).settings[name];
      return { text, source };
    };
    expect(read(all)).toEqual({ text: fromFlag, source: `--${flag}` });
    expect(read({ ...all, flags: { config } })).toEqual({ text: fromEnvironment, source: environment });
    expect(read({ flags: { config }, environment: {} })).toEqual({
      text: fromFile,
      source: `${flag} in ${config}`,
    });
    expect(read({ flags: { config: file("") }, environment: {} })).toEqual({
      text: fallback,
      source: "default",
    });
    // A flag outranks the file, with nothing between them.
    expect(read({ ...all, environment: {} })).toEqual({ text: fromFlag, source: `--${flag}` });
  });

  test("a setting names the source of junk, and does not fall through to the next source", () => {
    const good = file(`"${flag}" = "${fromFile}"\n`);
    const typed = mistakesOf(() =>
      readConfiguration({ flags: { config: good, [flag]: junk }, environment: {} }),
    );
    expect(typed.mistakes.map(({ source }) => source)).toEqual([`--${flag}`]);
    expect(typed.code).toBe("usage");
    const exported = mistakesOf(() =>
      readConfiguration({ flags: { config: good }, environment: { [environment]: junk } }),
    );
    expect(exported.mistakes.map(({ source }) => source)).toEqual([environment]);
    expect(exported.code).toBe("bad_configuration");
    const bad = file(`"${flag}" = "${junk}"\n`);
    const written = mistakesOf(() => readConfiguration({ flags: { config: bad }, environment: {} }));
    expect(written.mistakes.map(({ source }) => source)).toEqual([`${flag} in ${bad}`]);
    expect(written.code).toBe("bad_configuration");
  });
});

describe("lock timeouts", () => {
  const sources = [
    { name: "--lock-timeout", flag: "1" },
    { name: "HOLDFAST_LOCK_TIMEOUT_TASK", environment: { HOLDFAST_LOCK_TIMEOUT_TASK: "2" } },
    { name: "HOLDFAST_LOCK_TIMEOUT", environment: { HOLDFAST_LOCK_TIMEOUT: "3" } },
    { name: "[locking.scopes] task", scopes: "[locking.scopes]\ntask = 4\n" },
    { name: "[locking] timeout", general: "[locking]\ntimeout = 5\n" },
  ] as const;
  const pairs = sources.flatMap((winner, at) =>
    sources.slice(at + 1).map((loser) => [winner, loser] as const),
  );

  function resolve(...present: readonly (typeof sources)[number][]) {
    const text =
      present.map((one) => ("general" in one ? one.general : "")).join("") +
      present.map((one) => ("scopes" in one ? one.scopes : "")).join("");
    const flag = present
      .map((one) => ("flag" in one ? one.flag : undefined))
      .find((value) => value !== undefined);
    const environment = Object.assign(
      {},
      ...present.map((one) => ("environment" in one ? one.environment : {})),
    );
    const config = file(text);
    const { lockTimeouts } = readConfiguration({
      flags: { config, ...(flag === undefined ? {} : { "lock-timeout": flag }) },
      environment,
    });
    return policyOf(lockTimeouts)("task");
  }

  test.each(pairs.map(([winner, loser]) => ({ winner, loser })))(
    "a lock timeout from $winner.name outranks one from $loser.name",
    ({ winner, loser }) => {
      const { timeout, source } = resolve(winner, loser);
      expect(timeout).toBe((sources.indexOf(winner) + 1) * 1_000);
      expect(source.startsWith(winner.name)).toBe(true);
    },
  );

  test("fall back to the scope's own default, and to 600 s without a scope", () => {
    const policy = policyOf(readConfiguration({ flags: { config: file("") }, environment: {} }).lockTimeouts);
    expect(policy("payment").timeout).toBe(10_000);
    expect(policy("task").timeout).toBe(0);
    expect(policy("sandbox").timeout).toBe(20_000);
    expect(policy(undefined).timeout).toBe(600_000);
  });

  test.each(["0", "infinite", "45"])("the text %s is accepted as a lock timeout", (text) => {
    const { lockTimeouts } = readConfiguration({
      flags: { config: file(""), "lock-timeout": text },
      environment: {},
    });
    expect(lockTimeouts.general.value).toBe(text === "infinite" ? "infinite" : Number(text) * 1_000);
  });

  test.each(["-1", "1.5", "1s", "forever", " 1", "1e3", "Infinite"])(
    "refuse %p once, by its source",
    (text) => {
      const { mistakes } = mistakesOf(() =>
        readConfiguration({ flags: { config: file("") }, environment: { HOLDFAST_LOCK_TIMEOUT: text } }),
      );
      expect(mistakes.map(({ source }) => source)).toEqual(["HOLDFAST_LOCK_TIMEOUT"]);
    },
  );
});

test("all mistakes are told at once", () => {
  const config = file(
    'port = 99999\ncolour = "red"\n[locking]\ntimeout = "soon"\nspeed = 1\n[locking.scopes]\nlunch = 1\n',
  );
  const { mistakes, code } = mistakesOf(() =>
    readConfiguration({ flags: { config, store: "tape:" }, environment: { HOLDFAST_HOST: "?" } }),
  );
  expect(mistakes.map(({ source }) => source)).toEqual([
    "--store",
    "HOLDFAST_HOST",
    `port in ${config}`,
    `[locking] timeout in ${config}`,
    `colour in ${config}`,
    `[locking] speed in ${config}`,
    `[locking.scopes] lunch in ${config}`,
  ]);
  expect(code).toBe("bad_configuration");
});

test("a named file that is not there is refused, the default one is not needed", () => {
  const missing = join(folder, "nowhere.toml");
  const { mistakes } = mistakesOf(() => readConfiguration({ flags: { config: missing }, environment: {} }));
  expect(mistakes).toHaveLength(1);
  expect(mistakes[0]?.source).toBe("--config");
  expect(() => readConfiguration({ flags: {}, environment: {} })).not.toThrow();
});

test("a file that is not TOML is refused with its name", () => {
  const config = file("port = = 1");
  const { mistakes, code } = mistakesOf(() =>
    readConfiguration({ flags: {}, environment: { HOLDFAST_CONFIG: config } }),
  );
  expect(mistakes[0]?.message).toContain("not valid TOML");
  expect(code).toBe("bad_configuration");
});

test("none: needs consent, and the refusal is about configuration even when it was typed", () => {
  const config = file("");
  const refused = mistakesOf(() => readConfiguration({ flags: { config, locks: "none:" }, environment: {} }));
  expect(refused.code).toBe("bad_configuration");
  expect(refused.message).toContain("--allow-unlocked");
  const accepted = { flags: { config, locks: "none:", "allow-unlocked": "true" }, environment: {} };
  expect(readConfiguration(accepted).settings.locks.value).toEqual({ kind: "none" });
});

test("secrets and passwords are not printed", () => {
  const entries = configurationEntries(
    readConfiguration({
      flags: { config: file(""), store: "postgres://user:hunter2@h/d", "api-key": "hunter2" },
      environment: { STRIPE_API_KEY: "hunter2" },
    }),
  );
  expect(JSON.stringify(entries)).not.toContain("hunter2");
  expect(entries.find(({ name }) => name === "store")?.value).toBe("postgres://user:***@h/d");
});

describe("the options of a gateway module", () => {
  const read = (environment: Record<string, string>, toml: string) =>
    readConfiguration({ flags: { config: file(toml) }, environment });

  test("an option of a gateway module comes from the environment before the file, in lower case", () => {
    const environment = {
      HOLDFAST_GATEWAY_OPTION_BANK_URL: "http://environment",
      HOLDFAST_GATEWAY_OPTION_EMPTY: "",
      HOLDFAST_GATEWAY: "simulated:",
    };
    const { gatewayOptions } = read(
      environment,
      '[gateway-options]\nbank_url = "http://file"\nempty = "not so"\nretries = 3\n',
    );
    const told = Object.entries(gatewayOptions).map(([name, { value, kind }]) => [name, value, kind]);
    expect(told).toEqual([
      ["bank_url", "http://environment", "environment"],
      ["empty", "not so", "file"],
      ["retries", "3", "file"],
    ]);
  });

  test("an option of a gateway module is never printed, whether or not it is a secret", () => {
    const entries = configurationEntries(
      read({ HOLDFAST_GATEWAY_OPTION_KEY: "hunter2" }, '[gateway-options]\nother = "hunter2"\n'),
    );
    expect(JSON.stringify(entries)).not.toContain("hunter2");
    expect(entries.filter(({ name }) => name.startsWith("gateway-option."))).toEqual([
      { name: "gateway-option.key", value: "***", source: "HOLDFAST_GATEWAY_OPTION_KEY" },
      {
        name: "gateway-option.other",
        value: "***",
        source: expect.stringContaining("[gateway-options] other"),
      },
    ]);
  });

  test.each([
    ['[gateway-options]\n"bank-url" = "x"\n', "[gateway-options] bank-url in"],
    ['[gateway-options]\nbank = { url = "x" }\n', "[gateway-options] bank in"],
    ['gateway-options = "x"\n', "gateway-options in"],
    ["gateway-options = []\n", "gateway-options in"],
  ])("an option of a gateway module that is none is refused: %j", (toml, source) => {
    const { code, mistakes } = mistakesOf(() => read({}, toml));
    expect(code).toBe("bad_configuration");
    expect(mistakes.map((mistake) => mistake.source)).toEqual([expect.stringContaining(source)]);
  });
});

test("what follows from something else is printed as what it is", () => {
  const printed = (store: string, name: string) =>
    configurationEntries(
      readConfiguration({ flags: { config: file(""), store, port: "9000" }, environment: {} }),
    ).find((entry) => entry.name === name)?.value;
  expect(printed("sqlite:/x.db", "locks")).toBe("memory:");
  expect(printed("postgres://h/d", "locks")).toBe("postgres:");
  expect(printed("sqlite:/x.db", "advertise")).toBe("http://127.0.0.1:9000");
});

test.each([
  ["is not there", () => join(folder, "nowhere.toml")],
  ["is a folder", () => folder],
  ["is not TOML", () => file("port = ")],
  ["is a picture", () => file("\u0000\u0089PNG\r\n")],
])("a named file that %s is bad configuration, whoever named it", (_what, path) => {
  const sources = [
    { flags: { config: path() }, environment: {} },
    { flags: {}, environment: { HOLDFAST_CONFIG: path() } },
  ];
  for (const source of sources) {
    const { code, mistakes } = mistakesOf(() => readConfiguration(source));
    expect(code).toBe("bad_configuration");
    expect(mistakes).toHaveLength(1);
  }
});

test("locks follow what they protect", () => {
  const locksFor = (store: string) =>
    defaultLocks(readConfiguration({ flags: { config: file(""), store }, environment: {} }));
  expect(locksFor("sqlite:/x.db")).toEqual({ kind: "memory" });
  expect(locksFor("postgres://h/d")).toEqual({ kind: "store" });
});

test("postgres: leads to the store's own database, and nowhere if that is none", () => {
  const backendFor = (store: string) => {
    const configuration = readConfiguration({
      flags: { config: file(""), store, locks: "postgres:" },
      environment: {},
    });
    return locksBackend(configuration, configuration.settings.locks.value!);
  };
  expect(backendFor("postgres://h/d")).toEqual({ kind: "postgres", url: "postgres://h/d" });
  const refused = mistakesOf(() => backendFor("sqlite:/x.db"));
  expect(refused.code).toBe("usage");
  expect(refused.message).toMatch(
    /^--locks is postgres:, the database of the store, but the store \(--store\) is sqlite/,
  );
});

test("task locks live in the user's state directory, whatever folder cron starts in", () => {
  expect(defaultTaskLockDirectory({ XDG_STATE_HOME: "/state", HOME: "/home/u" })).toBe(
    "/state/holdfast/locks",
  );
  expect(defaultTaskLockDirectory({ HOME: "/home/u" })).toBe("/home/u/.local/state/holdfast/locks");
  expect(defaultTaskLockDirectory({ XDG_STATE_HOME: "relative", HOME: "/home/u" })).toBe(
    "/home/u/.local/state/holdfast/locks",
  );
});

test.each([
  ["sqlite:./x.db", { kind: "sqlite", file: join(process.cwd(), "x.db") }],
  ["sqlite:/x.db", { kind: "sqlite", file: "/x.db" }],
  ["sqlite:///x.db", { kind: "sqlite", file: "/x.db" }],
])("the store %s is an absolute path", (text, expected) => {
  expect(
    readConfiguration({ flags: { config: file(""), store: text }, environment: {} }).settings.store.value,
  ).toEqual(expected);
});

test.each([
  ["gs://bucket/a/b", { kind: "gcs", bucket: "bucket", prefix: "a/b" }],
  ["gs://bucket", { kind: "gcs", bucket: "bucket", prefix: "" }],
  ["file:/l?mode=exclusive-create", { kind: "file", directory: "/l", mode: "exclusive-create" }],
  ["postgres:", { kind: "store" }],
])("the locks %s are read as an adapter with its address", (text, expected) => {
  expect(
    readConfiguration({ flags: { config: file(""), locks: text }, environment: {} }).settings.locks.value,
  ).toEqual(expected);
});

test.each([
  "file:",
  "file:/l?mode=fast",
  "file:/l?colour=red",
  "gs://",
  "gs://B/x",
  "redis:",
  "redis://h/x",
  "redis://h/-1",
  "redis+cluster://",
  "redis+cluster://h:0",
  "redis+cluster://h/1",
  "redis+sentinel://h:26379",
  "redis+sentinel://h/name/x",
  "redis+standby://h",
  "postgres:/x",
  "",
])("the locks %p are refused", (text) => {
  expect(() => readConfiguration({ flags: { config: file(""), locks: text }, environment: {} })).toThrow(
    ConfigurationError,
  );
});

test("a lock timeout beyond the greatest is refused with the greatest", () => {
  const flags = { config: file(""), "lock-timeout": "99999999999999" };
  expect(() => readConfiguration({ flags, environment: {} })).toThrow(/the most is 864000000/);
});
