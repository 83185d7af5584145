/** Where a value can come from; the first one that has it wins. */
export type SourceKind = "option" | "flag" | "environment" | "file" | "default";

export interface Effective<T> {
  readonly value: T;
  /** As it was written; null when the value follows from something else. */
  readonly text: string | null;
  readonly kind: SourceKind;
  /** As messages name it: `--port`, `HOLDFAST_PORT`, `port in holdfast.toml`, `default`. */
  readonly source: string;
}

export interface Mistake {
  readonly source: string;
  readonly kind: SourceKind;
  readonly message: string;
}

/** Says what is wrong with a value and what would be right. The caller, which knows the source, adds it. */
export class SettingError extends Error {
  override readonly name = "SettingError";
}

export interface ConfigurationSources {
  /** By flag name, without the dashes; a boolean flag that is set is "true". */
  readonly flags: Readonly<Record<string, string | undefined>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** By setting, of whoever embeds the server. Then no file is read that nobody has named. */
  readonly options?: Readonly<Record<string, unknown>>;
}

/** What one source says about one setting, if it says anything. */
export interface Candidate {
  readonly kind: SourceKind;
  readonly source: string;
  readonly raw: unknown;
}

/**
 * The first candidate that says something decides, even if what it says is wrong: falling through to the next source
 * would hide the mistake. An empty environment variable says nothing, as a shell cannot unset one for a child.
 */
export function firstSaid(candidates: readonly Candidate[]): Candidate | undefined {
  return candidates.find(
    ({ kind, raw }) => raw !== undefined && raw !== null && !(kind === "environment" && raw === ""),
  );
}

/** Reads the deciding candidate; a mistake is added to the list, and the answer is undefined. */
export function readCandidate<T>(
  candidate: Candidate,
  parse: (text: string) => T,
  mistakes: Mistake[],
): Effective<T> | undefined {
  const { kind, source, raw } = candidate;
  try {
    if (
      typeof raw !== "string" &&
      typeof raw !== "number" &&
      typeof raw !== "boolean" &&
      typeof raw !== "bigint"
    ) {
      throw new SettingError("must be a single value, not a table or a list");
    }
    const text = String(raw);
    return { value: parse(text), text, kind, source };
  } catch (error) {
    if (!(error instanceof SettingError)) throw error;
    mistakes.push({ source, kind, message: error.message });
    return undefined;
  }
}
