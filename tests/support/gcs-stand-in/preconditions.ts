import { conditionNotMet, invalid, notModified } from "./google-error";

/** The conditions a request may carry; each is compared with the object that is there when the request is applied. */
export interface Preconditions {
  readonly ifGenerationMatch?: string;
  readonly ifGenerationNotMatch?: string;
  readonly ifMetagenerationMatch?: string;
  readonly ifMetagenerationNotMatch?: string;
}

const NAMES = [
  "ifGenerationMatch",
  "ifGenerationNotMatch",
  "ifMetagenerationMatch",
  "ifMetagenerationNotMatch",
] as const;

export function preconditionsOf(query: URLSearchParams): Preconditions {
  const found: Partial<Record<(typeof NAMES)[number], string>> = {};
  for (const name of NAMES) {
    const value = query.get(name);
    if (value === null) continue;
    if (!/^\d+$/.test(value)) throw invalid(`Invalid long value: '${value}'.`);
    found[name] = BigInt(value).toString();
  }
  return found;
}

/** Generation 0 stands for "no live object". */
export function checkPreconditions(
  conditions: Preconditions,
  current: { readonly generation: string; readonly metageneration: number } | undefined,
): void {
  const generation = current?.generation ?? "0";
  const metageneration = current === undefined ? undefined : String(current.metageneration);

  if (conditions.ifGenerationMatch !== undefined && conditions.ifGenerationMatch !== generation)
    throw conditionNotMet();
  if (conditions.ifMetagenerationMatch !== undefined && conditions.ifMetagenerationMatch !== metageneration)
    throw conditionNotMet();
  if (conditions.ifGenerationNotMatch !== undefined && current === undefined) throw conditionNotMet();
  if (conditions.ifGenerationNotMatch === generation) throw notModified();
  if (metageneration !== undefined && conditions.ifMetagenerationNotMatch === metageneration)
    throw notModified();
}
