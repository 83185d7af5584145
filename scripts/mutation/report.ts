import { nameOf } from "./equal-mutants";
import type { Mutant } from "./switch-mutants";
import type { Verdict } from "./try-mutants";

export type AreaMutant = Mutant & { readonly area: string };

export interface Judged {
  readonly verdict: Verdict<AreaMutant>;
  readonly isEqual: boolean;
  /** The gate's compiler refuses it. */
  readonly isRefused: boolean;
}

export function isMissed({ verdict, isEqual, isRefused }: Judged): boolean {
  return !isEqual && !isRefused && (verdict.outcome === "survived" || verdict.outcome === "no test");
}

/** What was found, in per cent of all that could be: equal mutants are left out of it. NaN where nothing was tried. */
export function figureOf(judged: readonly Judged[]): number {
  const tried = judged.filter(({ verdict, isEqual }) => !isEqual && verdict.outcome !== "undecided");
  return (100 * tried.filter((one) => !isMissed(one)).length) / tried.length;
}

export function tableOf(mutants: readonly AreaMutant[], judged: readonly Judged[]): string {
  const rows = [...new Set(mutants.map(({ area }) => area))].map((area) => {
    const own = judged.filter(
      ({ verdict }) => verdict.mutant.area === area && verdict.outcome !== "undecided",
    );
    const count = (is: (one: Judged) => boolean): number => own.filter(is).length;
    const missed = count(isMissed);
    const equal = count(({ isEqual }) => isEqual);
    const figure = figureOf(own);
    return [
      area,
      mutants.filter((mutant) => mutant.area === area).length,
      own.length,
      count(({ verdict }) => verdict.outcome === "found"),
      count(({ verdict }) => verdict.outcome === "not in time"),
      count(({ isEqual, isRefused }) => isRefused && !isEqual),
      equal,
      missed,
      Number.isNaN(figure) ? "–" : `${figure.toFixed(1)} %`,
    ].map(String);
  });
  const head = [
    "area",
    "mutants",
    "tried",
    "found",
    "by time",
    "by the compiler",
    "equal",
    "missed",
    "figure",
  ];
  const lines = [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`);
  return lines.join("\n");
}

/** As the list of equal mutants names them. */
export function missedOf(judged: readonly Judged[]): string {
  return judged
    .filter(isMissed)
    .map(({ verdict: { mutant, outcome } }) => {
      const why = outcome === "no test" ? " (no test comes there)" : "";
      return `${mutant.file}:${mutant.line}${why}\n    ${mutant.lineText}\n    ${nameOf(mutant)}`;
    })
    .join("\n");
}
