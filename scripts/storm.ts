import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { JudgedStorm } from "../tests/support/storms";

// npm run storm [-- --times 10] [--first-round 11] [--kind postgres --kind webhooks]: the storms at full size, round after
// round, each round with other seeds; then a table of what was judged. What is not good is printed where it happens.

const KINDS: Readonly<Record<string, string>> = {
  postgres: "tests/processes/histories/postgres",
  gateway: "tests/processes/histories/gateway",
  sqlite: "tests/processes/histories/sqlite",
  locks: "tests/processes/locks/lock-storms",
  leaders: "tests/processes/locks/leader-storms",
  slots: "tests/processes/locks/slot-storms",
  webhooks: "tests/processes/webhooks/storm",
  captures: "tests/processes/many-instances",
  hints: "tests/application/gateway-events",
};

interface Row {
  readonly kind: string;
  runs: number;
  good: number;
  judged: number;
  kills: number;
  seconds: number;
}

async function main(): Promise<boolean> {
  const { values } = parseArgs({
    options: {
      times: { type: "string", default: "1" },
      "first-round": { type: "string", default: "0" },
      kind: { type: "string", multiple: true, default: Object.keys(KINDS) },
    },
  });
  const rows = values.kind.map((kind) => {
    if (KINDS[kind] === undefined)
      throw new Error(`no such kind: ${kind} (${Object.keys(KINDS).join(", ")})`);
    return { kind, runs: 0, good: 0, judged: 0, kills: 0, seconds: 0 };
  });
  const first = Number(values["first-round"]);
  for (let round = first; round < first + Number(values.times); round += 1) {
    for (const row of rows) await run(row, round);
    console.log(`\n${tableOf(rows)}\n`);
  }
  return rows.every(({ runs, good }) => good === runs);
}

async function run(row: Row, round: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-storm-"));
  const report = join(folder, "report");
  const begunMs = performance.now();
  try {
    const isGood = await jest(KINDS[row.kind]!, {
      HOLDFAST_STORM: "full",
      HOLDFAST_TEST_SIZE: "full",
      HOLDFAST_TEST_REQUIRE_SERVERS: "1",
      HOLDFAST_STORM_ROUND: String(round),
      HOLDFAST_STORM_REPORT: report,
    });
    row.runs += 1;
    row.good += Number(isGood);
    row.seconds += (performance.now() - begunMs) / 1_000;
    for (const { judged, kills } of reported(report)) {
      row.judged += judged;
      row.kills += kills;
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function jest(path: string, env: NodeJS.ProcessEnv): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const child = spawn("npx", ["jest", "-w", "1", path], {
      stdio: ["ignore", "inherit", "inherit"],
      env: { ...process.env, ...env },
    });
    child.once("error", reject);
    child.once("exit", (status) => resolve(status === 0));
  });
}

function reported(file: string): JudgedStorm[] {
  if (!existsSync(file)) return [];
  const lines = readFileSync(file, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => JSON.parse(line) as JudgedStorm);
}

function tableOf(rows: readonly Row[]): string {
  const cells = [
    ["kind", "runs", "good", "judged", "kills", "seconds"],
    ...rows.map(({ kind, runs, good, judged, kills, seconds }) => [
      kind,
      ...[runs, good, judged, kills, Math.round(seconds)].map((count) => count.toLocaleString("en")),
    ]),
  ];
  return cells.map((row) => row.map((cell) => cell.padStart(10)).join(" ")).join("\n");
}

void main().then(
  (isGood) => (process.exitCode = isGood ? 0 : 1),
  (error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  },
);
