import type { Row } from "./row";

export interface Report {
  readonly at: string;
  readonly size: "full" | "tiny";
  readonly machine: Readonly<Record<string, string>>;
  readonly versions: Readonly<Record<string, string>>;
  readonly rows: readonly Row[];
  readonly leftOut: readonly string[];
}

export function asMarkdown({ at, size, machine, versions, rows, leftOut }: Report): string {
  const told = (facts: Readonly<Record<string, string>>, between: string): string =>
    Object.entries(facts)
      .map(([name, value]) => `${name}${between}${value}`)
      .join(", ");
  return [
    `Measured ${at.slice(0, 10)}${size === "tiny" ? " at the tiny size, whose figures mean nothing" : ""}.`,
    "",
    `Machine: ${told(machine, " ")}.`,
    `Versions: ${told(versions, " ")}.`,
    "",
    "| work | compared with | Holdfast | other | ratio (interquartile range) | aim | |",
    "|---|---|--:|--:|--:|---|---|",
    ...rows.map(asTableRow),
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
