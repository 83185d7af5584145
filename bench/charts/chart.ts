import type { Row } from "../measuring/row";

const WIDTH = 860;
const LEFT = 20;
const BARS_WIDTH = 640;
const ROW_HEIGHT = 46;
const TOP = 44;

/**
 * One suite as a picture: a bar for each ratio, its middle half as a thin line, and the aim as a mark. Ratios are drawn by
 * their logarithm, so that half and double are equally far from the middle.
 */
export function chartOf(suite: string, rows: readonly Row[], measuredOn: string): string {
  const ratios = rows.flatMap(({ ratio, reach }) => [ratio.low, ratio.high, aimOf(reach) ?? 1, 1]);
  const least = Math.log(Math.min(0.5, ...ratios));
  const most = Math.log(Math.max(2, ...ratios));
  const at = (ratio: number): number =>
    round(LEFT + ((Math.log(ratio) - least) / (most - least)) * BARS_WIDTH);
  const height = TOP + rows.length * ROW_HEIGHT + 10;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escaped(suite)}: ratios">`,
    "<style>",
    "text{font:13px system-ui,sans-serif;fill:#24292f}.faint{fill:#57606a}.line{stroke:#57606a}.aim{stroke:#cf222e}",
    ".reached{fill:#2da44e}.missed{fill:#bf8700}.plain{fill:#6e7781}",
    "@media (prefers-color-scheme:dark){text{fill:#e6edf3}.faint{fill:#9da7b1}.line{stroke:#9da7b1}.aim{stroke:#ff7b72}}",
    "</style>",
    `<text x="${LEFT}" y="20" font-weight="600">${escaped(suite)}</text>`,
    `<text x="${LEFT}" y="37" class="faint">ours : theirs, measured ${escaped(measuredOn)}; red: the aim; the vertical line: as much as theirs</text>`,
    `<line class="line" x1="${at(1)}" x2="${at(1)}" y1="${TOP}" y2="${height - 8}" stroke-dasharray="2 3"/>`,
    ...rows.flatMap((row, index) => bar(row, TOP + index * ROW_HEIGHT, at)),
    "</svg>",
    "",
  ].join("\n");
}

function bar(
  { work, against, ratio, reach, reached }: Row,
  y: number,
  at: (ratio: number) => number,
): string[] {
  const [from, to] = [at(1), at(ratio.median)].sort((a, b) => a - b) as [number, number];
  const kind = reached === null ? "plain" : reached ? "reached" : "missed";
  const aim = aimOf(reach);
  const told = `${plain(work)} — ${plain(against)}`;
  return [
    `<text x="${LEFT}" y="${y + 16}">${escaped(told)}</text>`,
    `<rect class="${kind}" x="${from}" y="${y + 22}" width="${round(Math.max(2, to - from))}" height="12"/>`,
    `<line class="line" x1="${at(ratio.low)}" x2="${at(ratio.high)}" y1="${y + 28}" y2="${y + 28}" stroke-width="2"/>`,
    ...(aim === null
      ? []
      : [
          `<line class="aim" x1="${at(aim)}" x2="${at(aim)}" y1="${y + 19}" y2="${y + 37}" stroke-width="2"/>`,
        ]),
    `<text x="${LEFT + BARS_WIDTH + 20}" y="${y + 33}">${figure(ratio.median)} ×${reach === null ? "" : ` (${escaped(reach)})`}</text>`,
  ];
}

/** The figure in `≤ 1.2 ×`. */
function aimOf(reach: string | null): number | null {
  const told = /[\d.]+/.exec(reach ?? "")?.[0];
  return told === undefined ? null : Number(told);
}

const round = (value: number): number => Math.round(value * 10) / 10;
const figure = (value: number): string => value.toFixed(value < 10 ? 2 : 1);
const plain = (text: string): string => text.replaceAll("`", "");

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
