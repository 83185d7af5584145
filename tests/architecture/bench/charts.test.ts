import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { chartsOf } from "../../../bench/charts/draw-charts";

const root = join(__dirname, "..", "..", "..");
const pictures = join(root, "docs", "pictures", "bench");

test("Each chart of the bench is drawn from the result that is there, and docs/performance.md shows each", () => {
  const charts = chartsOf(join(root, "bench", "results"));
  const page = readFileSync(join(root, "docs", "performance.md"), "utf8");
  expect(readdirSync(pictures).sort()).toEqual([...charts.keys()].sort());
  for (const [file, svg] of charts) {
    expect(readFileSync(join(pictures, file), "utf8")).toBe(svg);
    expect(page).toContain(`(pictures/bench/${file})`);
  }
});
