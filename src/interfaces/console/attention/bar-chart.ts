import type { VNode } from "preact";
import { h } from "../html/h";

const HEIGHT = 60;
const STEP = 10;

/** Bars from the left, the newest last. Positions are attributes: the policy of the pages allows no style of its own. */
export function barChart(values: readonly number[], says: string, tone = ""): VNode {
  const most = Math.max(1, ...values);
  const width = values.length * STEP;
  return h(
    "svg",
    {
      class: `chart ${tone}`.trim(),
      viewBox: `0 0 ${width} ${HEIGHT + 2}`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": says,
    },
    h("line", { x1: 0, x2: width, y1: HEIGHT + 1, y2: HEIGHT + 1 }),
    values.flatMap((value, index) => {
      if (value === 0) return [];
      const height = Math.max(2, Math.round((value / most) * HEIGHT));
      return [h("rect", { x: index * STEP + 1, y: HEIGHT - height, width: STEP - 2, height })];
    }),
  );
}
