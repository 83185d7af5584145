import { homedir } from "node:os";
import { join } from "node:path";
import type { LocksSetting } from "./adapter-urls";
import { withoutPassword } from "./addresses";
import { DEFAULT_CONFIG_FILE, readConfigFile, type ConfigFile } from "./config-file";
import { GATEWAY_OPTIONS, readGatewayOptions, type GatewayOptionSettings } from "./gateway-options";
import type { LockSetting } from "./lock-catalogue";
import { inWords, readLockTimeouts, type LockTimeoutSettings } from "./lock-timeouts";
import {
  firstSaid,
  readCandidate,
  type ConfigurationSources,
  type Effective,
  type Mistake,
} from "./setting-source";
import { settings, type Setting, type SettingName, type SettingValue } from "./settings";

type Fallback<N extends SettingName> = null extends (typeof settings)[N]["fallback"] ? null : never;

export type EffectiveSettings = {
  readonly [N in SettingName]: Effective<SettingValue<N> | Fallback<N>>;
};

export interface Configuration {
  readonly settings: EffectiveSettings;
  readonly lockTimeouts: LockTimeoutSettings;
  readonly gatewayOptions: GatewayOptionSettings;
}

/** Everything that is wrong with the configuration, at once. */
export class ConfigurationError extends Error {
  override readonly name = "ConfigurationError";

  constructor(readonly mistakes: readonly Mistake[]) {
    super(mistakes.map(({ source, message }) => `${source} ${message}`).join("\n"));
  }

  /** Junk that was typed is a usage error; junk that was configured is a configuration error, and outranks it. */
  get code(): "usage" | "bad_configuration" {
    return this.mistakes.every(({ kind }) => kind === "flag") ? "usage" : "bad_configuration";
  }
}

/** flag > environment > file > default, for every setting. Throws `ConfigurationError`. */
export function readConfiguration(sources: ConfigurationSources): Configuration {
  const mistakes: Mistake[] = [];
  const file = fileOf(sources, mistakes);
  const effective = Object.fromEntries(
    Object.entries(settings).map(([name, setting]) => [
      name,
      effectiveSetting(name, setting, sources, file, mistakes),
    ]),
  ) as unknown as EffectiveSettings;
  const lockTimeouts = readLockTimeouts(sources, file, mistakes);
  const gatewayOptions = readGatewayOptions(sources, file, mistakes);
  mistakes.push(...unknownKeys(file), ...unlocked(effective));
  if (mistakes.length > 0) throw new ConfigurationError(mistakes);
  return { settings: effective, lockTimeouts, gatewayOptions };
}

/** One line a setting, for `holdfast config`. Secrets are named, not shown. */
export interface ConfigurationEntry {
  readonly name: string;
  readonly value: string | null;
  readonly source: string;
}

export function configurationEntries({
  settings: effective,
  lockTimeouts,
  gatewayOptions,
}: Configuration): ConfigurationEntry[] {
  const { store, host, port } = effective;
  /** What was not set, and what it follows from. */
  const followed: Partial<Record<SettingName, Omit<ConfigurationEntry, "name">>> = {
    locks: {
      value: store.value.kind === "postgres" ? "postgres:" : "memory:",
      source: "default for this store; run uses files in the user's state directory",
    },
    advertise: {
      value: `http://${host.value}:${port.value}`,
      source: "default: where it listens, with the host's name if it listens on all addresses",
    },
  };
  const own = (Object.keys(settings) as SettingName[]).map((name) => {
    const { text, source } = effective[name];
    const { flag, secret }: Setting<unknown> = settings[name];
    const follows = followed[name];
    if (text === null && follows !== undefined) return { name: flag, ...follows };
    return {
      name: flag,
      value: text === null ? null : secret === true ? "***" : withoutPassword(text),
      source,
    };
  });
  const timeouts = Object.entries({ ...lockTimeouts.scopes }).map(([scope, { value, source }]) => ({
    name: `lock-timeout.${scope}`,
    value: inWords(value),
    source,
  }));
  // Nobody here knows which of them are secret.
  const options = Object.entries(gatewayOptions).map(([name, { source }]) => ({
    name: `gateway-option.${name}`,
    value: "***",
    source,
  }));
  const { value, source } = lockTimeouts.general;
  return [...own, { name: "lock-timeout", value: inWords(value), source }, ...timeouts, ...options];
}

/** What `locks` is when it is not set: it follows from what is being protected. */
export function defaultLocks({ settings: { store } }: Configuration): LocksSetting {
  return store.value.kind === "postgres" ? { kind: "store" } : { kind: "memory" };
}

/** Where `postgres:` leads: to the store's own database, if that is one. Throws `ConfigurationError`. */
export function locksBackend(
  { settings: { store, locks } }: Configuration,
  setting: LocksSetting,
): LockSetting {
  if (setting.kind !== "store") return setting;
  if (store.value.kind === "postgres") return { kind: "postgres", url: store.value.url };
  throw new ConfigurationError([
    {
      source: locks.source,
      kind: locks.kind,
      message: `is postgres:, the database of the store, but the store (${store.source}) is ${store.value.kind}: name a database, postgres://…`,
    },
  ]);
}

/**
 * Where `holdfast run` keeps its locks when `locks` is not set: an absolute directory of the user, so that cron in another
 * folder is kept apart, too. Null where neither variable nor home directory tells one.
 */
export function defaultTaskLockDirectory(environment: ConfigurationSources["environment"]): string | null {
  const state = environment["XDG_STATE_HOME"];
  if (state !== undefined && state.startsWith("/")) return join(state, "holdfast", "locks");
  const home = environment["HOME"] ?? homedirOrNull();
  return home === null || !home.startsWith("/") ? null : join(home, ".local", "state", "holdfast", "locks");
}

function homedirOrNull(): string | null {
  try {
    return homedir();
  } catch {
    return null;
  }
}

function effectiveSetting(
  name: string,
  setting: Setting<unknown>,
  { flags, environment, options = {} }: ConfigurationSources,
  file: ConfigFile,
  mistakes: Mistake[],
): Effective<unknown> {
  const said = firstSaid([
    { kind: "option", source: name, raw: options[name] },
    { kind: "flag", source: `--${setting.flag}`, raw: flags[setting.flag] },
    { kind: "environment", source: setting.environment, raw: environment[setting.environment] },
    { kind: "file", source: `${setting.flag} in ${file.path}`, raw: file.content[setting.flag] },
    { kind: "default", source: "default", raw: setting.fallback },
  ]);
  const nothing: Effective<unknown> = { value: null, text: null, kind: "default", source: "default" };
  return said === undefined ? nothing : (readCandidate(said, setting.parse, mistakes) ?? nothing);
}

function fileOf({ flags, environment, options }: ConfigurationSources, mistakes: Mistake[]): ConfigFile {
  const said = firstSaid([
    { kind: "flag", source: "--config", raw: flags["config"] },
    { kind: "environment", source: "HOLDFAST_CONFIG", raw: environment["HOLDFAST_CONFIG"] },
  ]);
  if (said === undefined && options !== undefined) return { path: "no file", content: {} };
  const path = said === undefined ? DEFAULT_CONFIG_FILE : String(said.raw);
  try {
    return readConfigFile(path, said !== undefined);
  } catch (error) {
    // The file is what is wrong, whoever named it.
    const source = said?.source ?? DEFAULT_CONFIG_FILE;
    mistakes.push({ kind: "file", source, message: (error as Error).message });
    return { path, content: {} };
  }
}

/** A key that is no setting is a typing error, and silence about it would leave the default in force. */
function unknownKeys({ path, content }: ConfigFile): Mistake[] {
  const known = new Set<string>([
    ...Object.values(settings).map(({ flag }) => flag),
    "locking",
    GATEWAY_OPTIONS,
  ]);
  const found = Object.keys(content).filter((key) => !known.has(key));
  const locking = content["locking"];
  if (typeof locking === "object" && locking !== null) {
    found.push(
      ...Object.keys(locking)
        .filter((key) => key !== "timeout" && key !== "scopes")
        .map((key) => `[locking] ${key}`),
    );
    const scopes = (locking as Record<string, unknown>)["scopes"];
    if (typeof scopes === "object" && scopes !== null) {
      const others = Object.keys(scopes).filter((key) => !["payment", "task", "sandbox"].includes(key));
      found.push(...others.map((key) => `[locking.scopes] ${key}`));
    }
  }
  return found.map((key) => ({
    kind: "file",
    source: `${key} in ${path}`,
    message: "is not a known setting",
  }));
}

function unlocked({ locks, allowUnlocked }: EffectiveSettings): Mistake[] {
  if (locks.value?.kind !== "none" || allowUnlocked.value) return [];
  return [
    {
      // A configuration mistake wherever it was written: the value is right, the consent is missing.
      kind: "file",
      source: locks.source,
      message: `is none:, which gives no mutual exclusion: ${locks.kind === "option" ? "set allowUnlocked" : "add --allow-unlocked"} to accept that`,
    },
  ];
}
