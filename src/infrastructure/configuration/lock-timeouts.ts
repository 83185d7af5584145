import {
  builtInLockTimeouts,
  type LockScope,
  type LockTimeout,
  type LockTimeoutPolicy,
  type ResolvedLockTimeout,
} from "../../application/ports/lock-timeout";

/** What people may have written, as they wrote it. */
export interface LockTimeoutSources {
  /** `--lock-timeout` */
  readonly flag?: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** `[locking]` of the configuration file, with the name to call it by. */
  readonly file?: LockingSection | undefined;
}

export interface LockingSection {
  readonly name: string;
  readonly timeout?: unknown;
  readonly scopes?: Readonly<Record<string, unknown>> | undefined;
}

/** Where a mistake was made decides the exit status: a flag is a usage error, the others are configuration errors. */
export interface LockTimeoutMistake {
  readonly origin: "flag" | "environment" | "file";
  readonly source: string;
  readonly message: string;
}

/** All mistakes at once, so that nobody has to find them one start at a time. */
export class InvalidLockTimeoutError extends Error {
  readonly code = "invalid_lock_timeout";

  constructor(readonly mistakes: readonly LockTimeoutMistake[]) {
    super(mistakes.map(({ message }) => message).join("; "));
    this.name = "InvalidLockTimeoutError";
  }
}

interface Setting {
  readonly origin: LockTimeoutMistake["origin"];
  readonly source: string;
  readonly given: unknown;
  /** Undefined: for all scopes. */
  readonly scope?: LockScope;
}

const SCOPES = ["payment", "task", "sandbox"] as const satisfies readonly LockScope[];

/** Flag, environment (scope before general), file (scope before general), built-in default of the scope, 600 s. */
export function resolveLockTimeouts(sources: LockTimeoutSources): LockTimeoutPolicy {
  const mistakes: LockTimeoutMistake[] = unknownScopes(sources.file);
  const byScope = new Map<LockScope | undefined, ResolvedLockTimeout>();
  for (const setting of inOrderOfRank(sources)) {
    const timeout = parseLockTimeout(setting.given);
    if (timeout === undefined) {
      mistakes.push(mistake(setting));
      continue;
    }
    const resolved = { timeout, source: setting.source };
    for (const scope of setting.scope === undefined ? [undefined, ...SCOPES] : [setting.scope])
      if (!byScope.has(scope)) byScope.set(scope, resolved);
  }
  if (mistakes.length > 0) throw new InvalidLockTimeoutError(mistakes);
  return (scope) => byScope.get(scope) ?? builtInLockTimeouts(scope);
}

/** `0`, whole seconds or `infinite`; undefined for anything else. */
export function parseLockTimeout(given: unknown): LockTimeout | undefined {
  if (given === "infinite") return given;
  const isWritten = typeof given === "number" || (typeof given === "string" && /^\d+$/.test(given));
  const ms = isWritten ? Number(given) * 1000 : NaN;
  return Number.isSafeInteger(ms) && ms % 1000 === 0 && ms >= 0 ? ms : undefined;
}

function inOrderOfRank({ flag, environment, file }: LockTimeoutSources): Setting[] {
  const settings: Setting[] = [{ origin: "flag", source: "--lock-timeout", given: flag }];
  for (const scope of SCOPES)
    settings.push(fromEnvironment(`HOLDFAST_LOCK_TIMEOUT_${scope.toUpperCase()}`, scope));
  settings.push(fromEnvironment("HOLDFAST_LOCK_TIMEOUT"));
  if (file !== undefined) {
    for (const scope of SCOPES)
      settings.push({
        origin: "file",
        source: `[locking.scopes] ${scope} in ${file.name}`,
        given: file.scopes?.[scope],
        scope,
      });
    settings.push({ origin: "file", source: `[locking] timeout in ${file.name}`, given: file.timeout });
  }
  return settings.filter(({ given }) => given !== undefined);

  function fromEnvironment(variable: string, scope?: LockScope): Setting {
    return {
      origin: "environment",
      source: variable,
      given: environment[variable],
      ...(scope !== undefined && { scope }),
    };
  }
}

function mistake({ origin, source, given }: Setting): LockTimeoutMistake {
  const message = `${source}: expected whole seconds from 0, or "infinite", got ${JSON.stringify(given)}`;
  return { origin, source, message };
}

function unknownScopes(file: LockingSection | undefined): LockTimeoutMistake[] {
  return Object.keys(file?.scopes ?? {})
    .filter((key) => !SCOPES.some((scope) => scope === key))
    .map((key) => {
      const source = `[locking.scopes] ${key} in ${file?.name ?? ""}`;
      return { origin: "file", source, message: `${source}: no such scope; there are ${SCOPES.join(", ")}` };
    });
}
