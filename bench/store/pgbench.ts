import { execFile } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

/** By then a connection has planned each statement, and chosen the plan that it keeps. */
const WARM_UPS = 10;
/** Of a connection. Fewer, and most of them would lie before the others are warm or after the first has finished. */
const AT_LEAST = 40;

export interface PgbenchRun {
  readonly program: string;
  readonly script: string;
  readonly url: string;
  readonly callers: number;
  readonly transactions: number;
  /** Its first transaction is for the payment after this one. */
  readonly base: number;
  /** An empty folder. */
  readonly folder: string;
}

/** How many payments a run takes. */
export function pgbenchTakes(transactions: number, callers: number): number {
  return callers * perClient(transactions, callers);
}

/**
 * Transactions a second while all clients are at it: from when the last of them has warmed up until the first has done
 * its share. A program that keeps its connections is not to be compared with connections that have just been made.
 */
export async function pgbenchRate(run: PgbenchRun): Promise<number> {
  const each = perClient(run.transactions, run.callers);
  const variables = { i: 0, base: run.base, perclient: each };
  const { stdout } = await promisify(execFile)(
    run.program,
    [
      ...["--no-vacuum", "--protocol=prepared", `--file=${run.script}`],
      ...[`--client=${run.callers}`, "--jobs=1", `--transactions=${each}`],
      ...["--log", `--log-prefix=${join(run.folder, "log")}`],
      ...Object.entries(variables).map(([name, value]) => `--define=${name}=${value}`),
      run.url,
    ],
    // Ours are durable whatever the database's default says.
    { env: { ...process.env, PGOPTIONS: "-c synchronous_commit=on" } },
  );
  const all = each * run.callers;
  if (!stdout.includes(`actually processed: ${all}/${all}`))
    throw new Error(`pgbench did not do it all:\n${stdout}`);
  return steadyRate(readLogs(run.folder), run.callers, each);
}

function perClient(transactions: number, callers: number): number {
  return WARM_UPS + Math.max(AT_LEAST, Math.ceil(transactions / callers));
}

interface Finished {
  readonly client: string;
  readonly atUs: number;
}

/** A line of the log: client, its how manieth transaction, latency, script, seconds, microseconds. */
function readLogs(folder: string): readonly Finished[] {
  return readdirSync(folder).flatMap((file) => {
    const text = readFileSync(join(folder, file), "utf8");
    rmSync(join(folder, file));
    return text
      .trim()
      .split("\n")
      .map((line) => line.split(" "))
      .map(([client = "", , , , seconds, us]) => ({ client, atUs: Number(seconds) * 1e6 + Number(us) }));
  });
}

function steadyRate(finished: readonly Finished[], clients: number, each: number): number {
  const counts = new Map<string, number>();
  let warm = 0;
  let begunUs: number | undefined;
  let done = 0;
  for (const { client, atUs } of finished.toSorted((a, b) => a.atUs - b.atUs)) {
    const count = (counts.get(client) ?? 0) + 1;
    counts.set(client, count);
    if (count === WARM_UPS) warm += 1;
    if (begunUs === undefined) {
      if (warm === clients) begunUs = atUs;
    } else {
      done += 1;
      if (count === each) return (done * 1e6) / (atUs - begunUs);
    }
  }
  throw new Error("one client of pgbench had finished before another was warm");
}
