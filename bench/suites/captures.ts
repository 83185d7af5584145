// Captures that come one by one beside the same number in requests of 500, over HTTP with everything on. What counts is
// the CPU time of the Holdfast process; at the end every payment of either side must be captured, once.
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { postgresAnswers } from "../../tests/support/servers/probes";
import { serverUrl } from "../../tests/support/servers/server-availability";
import { captureRequest, manyCapturesRequest, openLoad, type Load } from "../load/http-load";
import { createApiKey, startHoldfast, type ServerUnderLoad } from "../load/holdfast-server";
import { compare, perSecond, sideBySide, type Side } from "../measuring/side-by-side";
import type { Bench } from "../measuring/suite";
import { numbered } from "../store/numbered-payments";
import { ownDatabase } from "../store/own-database";
import { assertCapturedOnce, postgresPayments } from "../store/postgres-payments";
import { assertSqliteCapturedOnce, sqlitePayments } from "../store/sqlite-payments";

const SUITE = "captures";
const IN_ONE_REQUEST = 500;
const MANY_CONNECTIONS = 16;
const WARM_UPS = 2;

/** A server with payments that wait to be captured. */
interface Stocked {
  readonly server: ServerUnderLoad;
  readonly original: string;
  readonly secret: string | null;
}

export async function captures(bench: Bench): Promise<void> {
  await onSqlite(bench);
  await onPostgres(bench);
}

async function onSqlite(bench: Bench): Promise<void> {
  const payments = await sqlitePayments(needed(bench));
  try {
    const secret = await createApiKey(payments.file);
    const server = await startHoldfast(payments.file);
    let taken: number;
    try {
      taken = await measured(bench, "SQLite", { server, original: payments.original, secret });
    } finally {
      await server.stop();
    }
    assertSqliteCapturedOnce(payments.file, taken);
  } finally {
    payments.remove();
  }
}

async function onPostgres(bench: Bench): Promise<void> {
  const where = serverUrl("postgres");
  if (!(await postgresAnswers(where)))
    return bench.leaveOut("many captures on PostgreSQL", "no PostgreSQL answers");
  const database = await ownDatabase(where);
  const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-captures-"));
  try {
    const original = await postgresPayments(database.url, needed(bench));
    // Of two flags for the store, the last one holds; the file names where log and snapshots go.
    const server = await startHoldfast(join(folder, "captures.db"), [], ["--store", database.url]);
    let taken: number;
    try {
      taken = await measured(bench, "PostgreSQL", { server, original, secret: null });
    } finally {
      await server.stop();
    }
    await assertCapturedOnce(database.url, taken);
  } finally {
    rmSync(folder, { recursive: true });
    await database.drop();
  }
}

const roundsOf = (bench: Bench): number => bench.rounds(11);
const perRoundOf = (bench: Bench): number => bench.size(2 * IN_ONE_REQUEST, 20);
const needed = (bench: Bench): number => (roundsOf(bench) + WARM_UPS) * perRoundOf(bench) * 3;

/** Resolves with how many payments were captured. */
async function measured(bench: Bench, store: string, stocked: Stocked): Promise<number> {
  const { server, original, secret } = stocked;
  const perRound = perRoundOf(bench);
  const loads: Load[] = [];
  let taken = 0;
  const next = (): string => numbered(original, (taken += 1));
  const side = async (connections: number, requests: () => string[], status: number): Promise<Side> => {
    const load = await openLoad(server.port, connections);
    loads.push(load);
    return async () => {
      const sent = requests();
      const before = await server.cpuMicroseconds();
      await load.run(sent, status);
      return (perRound * 1e6) / ((await server.cpuMicroseconds()) - before);
    };
  };
  const alone = () => Array.from({ length: perRound }, () => captureRequest(next(), randomUUID(), secret));
  const together = () =>
    Array.from({ length: Math.ceil(perRound / IN_ONE_REQUEST) }, () => {
      const items = Array.from({ length: Math.min(perRound, IN_ONE_REQUEST) }, () => ({
        paymentId: next(),
        idempotencyKey: randomUUID(),
      }));
      return manyCapturesRequest(items, secret);
    });
  try {
    const sides = {
      together: await side(1, together, 207),
      oneByOne: await side(1, alone, 201),
      concurrent: await side(MANY_CONNECTIONS, alone, 201),
    };
    const rates = await sideBySide(roundsOf(bench), sides, WARM_UPS);
    const row = {
      suite: SUITE,
      work: `captures per CPU second, ${IN_ONE_REQUEST} in one request, ${store}`,
      ours: rates.together,
      show: perSecond,
    };
    bench.report(compare({ ...row, against: "one by one", theirs: rates.oneByOne, atLeast: 4 }));
    const atOnce = `single requests, ${MANY_CONNECTIONS} connections`;
    bench.report(compare({ ...row, against: atOnce, theirs: rates.concurrent }));
  } finally {
    for (const load of loads) load.close();
  }
  return taken;
}
