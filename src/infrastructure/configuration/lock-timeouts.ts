import {
  builtInLockTimeouts,
  isKnownScope,
  type KnownLockScope,
  type LockTimeout,
  type LockTimeoutPolicy,
} from "../../application/ports/lock-timeout";
import type { ConfigFile } from "./config-file";
import {
  firstSaid,
  readCandidate,
  SettingError,
  type ConfigurationSources,
  type Effective,
  type Mistake,
} from "./setting-source";

const scopes: readonly KnownLockScope[] = ["payment", "task", "sandbox"];
/** Ten thousand days; beyond it, people mean `infinite`. */
const MAX_SECONDS = 864_000_000;
/** Timers hold 2^31 milliseconds; a longer limit is still kept exactly, since waits sleep in short steps. */
const MS = 1_000;

/** The effective limit of each scope, and of acquisitions without one. */
export interface LockTimeoutSettings {
  readonly general: Effective<LockTimeout>;
  readonly scopes: Readonly<Record<KnownLockScope, Effective<LockTimeout>>>;
}

/** `0`, whole seconds, or `infinite`. */
export function parseLockTimeout(text: string): LockTimeout {
  if (text === "infinite") return "infinite";
  if (!/^\d{1,9}$/.test(text) || Number(text) > MAX_SECONDS) {
    throw new SettingError(
      `must be whole seconds (0 makes one attempt, the most is ${MAX_SECONDS}) or infinite`,
    );
  }
  return Number(text) * MS;
}

/** flag > environment > `[locking.scopes]` > `[locking] timeout` > the scope's own default. */
export function readLockTimeouts(
  sources: ConfigurationSources,
  file: ConfigFile,
  mistakes: Mistake[],
): LockTimeoutSettings {
  // A general value that is wrong decides for several scopes; it is reported once.
  const found: Mistake[] = [];
  const general = effectiveTimeout(undefined, sources, file, found);
  const byScope = Object.fromEntries(
    scopes.map((scope) => [scope, effectiveTimeout(scope, sources, file, found)]),
  ) as Record<KnownLockScope, Effective<LockTimeout>>;
  for (const mistake of found) {
    if (!mistakes.some(({ source }) => source === mistake.source)) mistakes.push(mistake);
  }
  return { general, scopes: byScope };
}

export function policyOf(timeouts: LockTimeoutSettings): LockTimeoutPolicy {
  return (scope) => {
    const { value, source } = isKnownScope(scope) ? timeouts.scopes[scope] : timeouts.general;
    return { timeout: value, source };
  };
}

function effectiveTimeout(
  scope: KnownLockScope | undefined,
  { flags, environment, options = {} }: ConfigurationSources,
  file: ConfigFile,
  mistakes: Mistake[],
): Effective<LockTimeout> {
  const locking = table(file.content["locking"]);
  // Without a scope, two of these have nothing to say.
  const variable = `HOLDFAST_LOCK_TIMEOUT_${scope?.toUpperCase() ?? ""}`;
  const inScopes = scope && table(locking["scopes"])[scope];
  const said = firstSaid([
    { kind: "option", source: "lockTimeout", raw: options["lockTimeout"] },
    { kind: "flag", source: "--lock-timeout", raw: flags["lock-timeout"] },
    { kind: "environment", source: variable, raw: scope && environment[variable] },
    { kind: "environment", source: "HOLDFAST_LOCK_TIMEOUT", raw: environment["HOLDFAST_LOCK_TIMEOUT"] },
    { kind: "file", source: `[locking.scopes] ${scope ?? ""} in ${file.path}`, raw: inScopes },
    { kind: "file", source: `[locking] timeout in ${file.path}`, raw: locking["timeout"] },
  ]);
  const { timeout, source } = builtInLockTimeouts(scope);
  const fallback: Effective<LockTimeout> = {
    value: timeout,
    text: inWords(timeout),
    kind: "default",
    source,
  };
  return said === undefined ? fallback : (readCandidate(said, parseLockTimeout, mistakes) ?? fallback);
}

export function inWords(timeout: LockTimeout): string {
  return timeout === "infinite" ? timeout : String(timeout / MS);
}

function table(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}
