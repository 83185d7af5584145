// A page of the console beside the calls of the API that tell the same, as CPU of the server; and pages of a store with a
// million payments beside those of a thousand, as time until they are there.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { postgresAnswers } from "../../../tests/support/servers/probes";
import { serverUrl } from "../../../tests/support/servers/server-availability";
import { startHoldfast, type ServerUnderLoad } from "../../load/holdfast-server";
import { getRequest, openLoad } from "../../load/http-load";
import { compare, inMicroseconds, sideBySide, type Side } from "../../measuring/side-by-side";
import type { Bench } from "../../measuring/suite";
import { numbered } from "../../store/numbered-payments";
import { ownDatabase } from "../../store/own-database";
import { postgresPayments } from "../../store/postgres-payments";
import { sqlitePayments } from "../../store/sqlite-payments";

const SUITE = "console";
const WARM_UPS = 3;

interface Stocked {
  readonly server: ServerUnderLoad;
  readonly original: string;
  readonly count: number;
  close(): Promise<void>;
}

type Stock = (count: number) => Promise<Stocked>;

export async function console(bench: Bench): Promise<void> {
  await pagesBesideCalls(bench);
  await growing(bench, "SQLite", onSqlite);
  if (await postgresAnswers(serverUrl("postgres"))) await growing(bench, "PostgreSQL", onPostgres);
  else bench.leaveOut("pages of many payments on PostgreSQL", "no PostgreSQL answers");
}

async function onSqlite(count: number): Promise<Stocked> {
  const payments = await sqlitePayments(count, []);
  const server = await startHoldfast(payments.file);
  const close = async () => {
    await server.stop();
    payments.remove();
  };
  return { server, original: payments.original, count, close };
}

async function onPostgres(count: number): Promise<Stocked> {
  const database = await ownDatabase(serverUrl("postgres"));
  const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-console-"));
  const original = await postgresPayments(database.url, count, []);
  await vacuum(database.url);
  const server = await startHoldfast(join(folder, "console.db"), [], ["--store", database.url]);
  const close = async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
    await database.drop();
  };
  return { server, original, count, close };
}

/** What the server would otherwise begin to do by itself while pages are measured. */
async function vacuum(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("VACUUM (ANALYZE)");
  } finally {
    await client.end();
  }
}

/** Each page with the calls whose answers it shows. */
const pages = (id: string): Readonly<Record<string, readonly [page: string, ...calls: string[]]>> => ({
  "the payments": ["/console/payments", "/payments?limit=25"],
  "a payment": [`/console/payments/${id}`, `/payments/${id}`, `/payments/${id}/events`],
  reviews: ["/console/reviews", "/reviews?limit=25"],
  webhooks: ["/console/webhooks", "/webhook-endpoints?limit=25"],
  sandboxes: ["/console/sandboxes", "/sandboxes?limit=25"],
  locks: ["/console/locks", "/locks"],
});

async function pagesBesideCalls(bench: Bench): Promise<void> {
  const times = bench.size(40, 5);
  const stocked = await onSqlite(100);
  const load = await openLoad(stocked.server.port, 1);
  const cpuOf = (paths: readonly string[]): Side => {
    const requests = Array.from({ length: times }, () => paths.map(getRequest)).flat();
    return async () => {
      const before = await stocked.server.cpuMicroseconds();
      await load.run(requests, 200);
      return ((await stocked.server.cpuMicroseconds()) - before) / times;
    };
  };
  try {
    for (const [name, [page, ...calls]] of Object.entries(pages(numbered(stocked.original, 7)))) {
      const sides = { ours: cpuOf([page]), theirs: cpuOf(calls) };
      const measured = await sideBySide(bench.rounds(21), sides, WARM_UPS);
      const work = `CPU of a page of the console: ${name}`;
      const against = calls.length === 1 ? "the API's call" : `the API's ${calls.length} calls`;
      bench.report(compare({ suite: SUITE, work, against, atMost: 3, ...measured, show: inMicroseconds }));
    }
  } finally {
    load.close();
    await stocked.close();
  }
}

/** What people look for: all, some, none; the newest, the oldest, and one. */
const lists = ({ original, count }: Stocked): Readonly<Record<string, string>> => ({
  "the newest": "/console/payments",
  "of one status": "/console/payments?status=authorized",
  "of a status that none has": "/console/payments?status=captured",
  "of one merchant": "/console/payments?merchant=default",
  "of one day": `/console/payments?to=${new Date().toISOString().slice(0, 10)}`,
  "of a day long ago": "/console/payments?to=2020-01-01",
  "of one amount": "/console/payments?q=10.00+EUR",
  "by a reference that none has": "/console/payments?q=nothing",
  attention: "/console",
  "one of them": `/console/payments/${numbered(original, count - 1)}`,
});

async function growing(bench: Bench, store: string, stock: Stock): Promise<void> {
  const times = bench.size(20, 3);
  const sizes = { few: bench.size(1_000, 30), many: bench.size(1_000_000, 1_000) };
  const few = await stock(sizes.few);
  const closers = [() => few.close()];
  try {
    const many = await stock(sizes.many);
    closers.push(() => many.close());
    const timeOf = async (stocked: Stocked, path: string): Promise<Side> => {
      const load = await openLoad(stocked.server.port, 1);
      closers.unshift(async () => load.close());
      const requests = Array.from({ length: times }, () => getRequest(path));
      return async () => ((await load.run(requests, 200)) * 1_000) / times;
    };
    for (const name of Object.keys(lists(few))) {
      const sides = {
        ours: await timeOf(many, lists(many)[name]!),
        theirs: await timeOf(few, lists(few)[name]!),
      };
      const measured = await sideBySide(bench.rounds(21), sides, WARM_UPS);
      const work = `a page of the console, 1,000,000 payments, ${store}: ${name}`;
      bench.report(
        compare({
          suite: SUITE,
          work,
          against: "1,000 payments",
          atMost: 1.2,
          ...measured,
          show: inMicroseconds,
        }),
      );
    }
  } finally {
    for (const close of closers) await close();
  }
}
