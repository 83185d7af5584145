import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { Report } from "../measuring/report";
import { chartOf } from "./chart";

/** Draws each result that is there: by file name. */
export function chartsOf(results: string): ReadonlyMap<string, string> {
  const files = readdirSync(results).filter((file) => file.endsWith(".json"));
  return new Map(
    files.map((file) => {
      const { rows, at } = JSON.parse(readFileSync(join(results, file), "utf8")) as Report;
      const suite = basename(file, ".json");
      return [`${suite}.svg`, chartOf(suite, rows, at.slice(0, 10))];
    }),
  );
}

export function drawCharts(results: string, pictures: string): void {
  mkdirSync(pictures, { recursive: true });
  for (const [file, svg] of chartsOf(results)) writeFileSync(join(pictures, file), svg);
}
