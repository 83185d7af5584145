// npm run bench [-- [--tiny | --short] suite…]: runs the suites one after the other, each in a process of its own, and writes
// what they found to bench/results.
import { fork } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { drawCharts } from "./charts/draw-charts";
import { describeMachine, versions } from "./measuring/machine";
import { asMarkdown, type Report, type Size } from "./measuring/report";
import type { Row } from "./measuring/row";
import { suiteNames, type Told } from "./run-suite";

const NODE_MAJOR = Number(process.versions.node.split(".")[0]);
/** The pictures are of the oldest Node that is supported; newer ones have a folder each beside its records. */
const PICTURED_NODE = 20;
const ALL_RESULTS = join(__dirname, "../../results");
const RESULTS = NODE_MAJOR === PICTURED_NODE ? ALL_RESULTS : join(ALL_RESULTS, `node-${NODE_MAJOR}`);
const PICTURES = join(__dirname, "../../../docs/pictures/bench");

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    options: { tiny: { type: "boolean", default: false }, short: { type: "boolean", default: false } },
    allowPositionals: true,
  });
  const size: Size = values.tiny ? "tiny" : values.short ? "short" : "full";
  const isMeant = (name: string, word: string): boolean => name === word || name.startsWith(`${word}-`);
  const unknown = positionals.filter((word) => !suiteNames.some((name) => isMeant(name, word)));
  if (unknown.length > 0) {
    console.error(`unknown: ${unknown.join(", ")}; there are ${suiteNames.join(", ")}`);
    return 64;
  }
  const chosen =
    positionals.length === 0
      ? suiteNames
      : suiteNames.filter((name) => positionals.some((word) => isMeant(name, word)));
  const machine = describeMachine();
  let failed = 0;
  for (const name of chosen) {
    const begun = performance.now();
    const rows: Row[] = [];
    const leftOut: string[] = [];
    const findings: string[] = [];
    const status = await runSuite(name, size, (told) => {
      if ("row" in told) rows.push(told.row);
      else if ("finding" in told) findings.push(told.finding);
      else leftOut.push(told.leftOut);
    });
    const report: Report = {
      at: new Date().toISOString(),
      size,
      machine,
      versions: versions(),
      rows,
      leftOut,
      findings,
    };
    console.log(`\n## ${name}\n\n${asMarkdown(report)}`);
    console.log(
      `${name}: ${status === 0 ? "done" : "FAILED"} in ${((performance.now() - begun) / 1000).toFixed(0)} s`,
    );
    if (status !== 0) failed += 1;
    else if (size !== "tiny") keep(name, report);
  }
  if (size !== "tiny") {
    writeFileSync(join(RESULTS, "README.md"), allResults());
    if (NODE_MAJOR === PICTURED_NODE) drawCharts(RESULTS, PICTURES);
  }
  return failed === 0 ? 0 : 1;
}

function runSuite(name: string, size: Size, hear: (told: Told) => void): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = fork(join(__dirname, "run-suite.js"), [name, size], {
      execArgv: ["--expose-gc"],
    });
    child.on("message", (told) => hear(told as Told));
    child.once("error", reject);
    child.once("exit", (status) => resolve(status ?? 1));
  });
}

function keep(name: string, report: Report): void {
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(join(RESULTS, `${name}.json`), `${JSON.stringify(report, null, 2)}\n`);
}

/** The newest result of each suite, also of those that did not run this time. */
function allResults(): string {
  const kept = readdirSync(RESULTS).filter((file) => file.endsWith(".json"));
  const sections = suiteNames
    .filter((name) => kept.includes(`${name}.json`))
    .map((name) => {
      const report = JSON.parse(readFileSync(join(RESULTS, `${name}.json`), "utf8")) as Report;
      return `## ${name}\n\n${asMarkdown(report)}`;
    });
  return ["# Results of the last runs", "", "Written by `npm run bench`.", "", ...sections].join("\n");
}

void main().then(
  (status) => (process.exitCode = status),
  (error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  },
);
