import type { Mutant } from "./switch-mutants";

/** A mutant that no test can find, because nobody outside of the program could tell the difference. */
export interface EqualMutant {
  readonly file: string;
  /** The text of the line it begins in, so that it is found when lines have moved. */
  readonly line: string;
  readonly mutant: string;
  readonly because: string;
}

const LONGEST = 90;

/** How a mutant is named in reports and in the list. */
export function nameOf({ kind, original, replacement }: Mutant): string {
  return `${kind}: ${short(original)} → ${short(replacement)}`;
}

function short(text: string): string {
  const line = text.replaceAll(/\s+/g, " ");
  return line.length <= LONGEST ? line : `${line.slice(0, LONGEST)}…`;
}

/** Which mutants the list names, and those of its entries that name none: their line has changed, so the reason may have, too. */
export function findEqual<M extends Mutant>(mutants: readonly M[], list: readonly EqualMutant[]) {
  const keyOf = (file: string, line: string, mutant: string): string => `${file}\n${line}\n${mutant}`;
  const entries = new Map(list.map((entry) => [keyOf(entry.file, entry.line, entry.mutant), entry]));
  const equal = new Set<number>();
  const used = new Set<string>();
  for (const mutant of mutants) {
    const key = keyOf(mutant.file, mutant.lineText, nameOf(mutant));
    if (!entries.has(key)) continue;
    equal.add(mutant.id);
    used.add(key);
  }
  return { equal, unmatched: [...entries].filter(([key]) => !used.has(key)).map(([, entry]) => entry) };
}
