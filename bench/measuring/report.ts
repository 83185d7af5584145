import type { Row } from "./row";

/** The short size has a third of the rounds. */
export type Size = "full" | "short" | "tiny";

export interface Report {
  readonly at: string;
  readonly size: Size;
  readonly machine: Readonly<Record<string, string>>;
  readonly versions: Readonly<Record<string, string>>;
  readonly rows: readonly Row[];
  readonly leftOut: readonly string[];
  /** What is no figure. Missing in reports of before. */
  readonly findings?: readonly string[];
}

const remarks: Readonly<Record<Size, string>> = {
  full: "",
  short: " in a third of the rounds",
  tiny: " at the tiny size, whose figures mean nothing",
};

export function asMarkdown({ at, size, machine, versions, rows, leftOut, findings = [] }: Report): string {
  const told = (facts: Readonly<Record<string, string>>, between: string): string =>
    Object.entries(facts)
      .map(([name, value]) => `${name}${between}${value}`)
      .join(", ");
  return [
    `Measured ${at.slice(0, 10)}${remarks[size]}.`,
    "",
    `Machine: ${told(machine, " ")}.`,
    `Versions: ${told(versions, " ")}.`,
    "",
    "| work | compared with | Holdfast | other | ratio (interquartile range) | aim | |",
    "|---|---|--:|--:|--:|---|---|",
    ...rows.map(asTableRow),
    ...(findings.length === 0 ? [] : ["", "Found:", "", ...findings.map((finding) => `- ${finding}`)]),
    ...(leftOut.length === 0 ? [] : ["", "Left out:", ...leftOut.map((part) => `- ${part}`)]),
    "",
  ].join("\n");
}

function asTableRow({ work, against, ours, theirs, ratio, reach, reached }: Row): string {
  const figure = (value: number): string => value.toFixed(value < 10 ? 2 : 1);
  const ratios = `${figure(ratio.median)} (${figure(ratio.low)}–${figure(ratio.high)})`;
  const verdict = reached === null ? "" : reached ? "reached" : "**missed**";
  return `| ${[work, against, ours, theirs, ratios, reach ?? "for comparison", verdict].join(" | ")} |`;
}
