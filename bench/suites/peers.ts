// Captures over HTTP beside servers that do the same job on the same PostgreSQL: speed in interleaved rounds, and what
// becomes of the money when an answer is lost, when fifty callers come at once, and when the server is killed.
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { postgresAnswers } from "../../tests/support/servers/probes";
import { serverUrl } from "../../tests/support/servers/server-availability";
import { startHoldfast, type ServerUnderLoad } from "../load/holdfast-server";
import { captureRequest, openLoad } from "../load/http-load";
import { startChild } from "../load/start-child";
import { compare, inMicroseconds, perSecond, sideBySide, type Side } from "../measuring/side-by-side";
import type { Bench } from "../measuring/suite";
import { makePeerTables } from "../peers/peer-tables";
import { misfortunes, type Numbers } from "../peers/misfortunes";
import { numbered } from "../store/numbered-payments";
import { ownDatabase } from "../store/own-database";
import { postgresPayments } from "../store/postgres-payments";

const SUITE = "peers";
const CALLERS = [1, 8, 32];
const WARM_UPS = 1;
const ROUNDS_TO_COMPILE = [4, 1] as const;
/** What the checks of the money take at most, per side. */
const FOR_MISFORTUNES = 700;

interface Server {
  readonly name: string;
  readonly start: () => Promise<ServerUnderLoad>;
  /** The ratios to reach, by callers. */
  readonly reach: Readonly<Record<number, number>>;
}

export async function peers(bench: Bench): Promise<void> {
  const server = serverUrl("postgres");
  if (!(await postgresAnswers(server))) return bench.leaveOut("peers", "no PostgreSQL answers");
  const rounds = bench.rounds(7);
  const perRound = bench.size(640, 32);
  const database = await ownDatabase(server);
  const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-peers-"));
  const peer = (name: string) => () => startChild("peers/peer-server", [name, database.url]);
  const sides: readonly Server[] = [
    {
      name: "Holdfast",
      start: () => startHoldfast(join(folder, "holdfast"), [], ["--store", database.url]),
      reach: {},
    },
    { name: "written by hand, with care", start: peer("careful"), reach: { 1: 1, 8: 1.2, 32: 1.2 } },
    { name: "by hand in three steps, no history", start: peer("short"), reach: { 32: 0.6 } },
    { name: "the gateway inside the transaction", start: peer("inside"), reach: {} },
  ];
  try {
    const toCompile = bench.size(...ROUNDS_TO_COMPILE);
    const measured = (rounds + WARM_UPS) * CALLERS.length + toCompile;
    const original = await postgresPayments(
      database.url,
      sides.length * (measured * perRound + FOR_MISFORTUNES),
    );
    await makePeerTables(database.url);
    let taken = 0;
    const take: Numbers = (count) => Array.from({ length: count }, () => numbered(original, (taken += 1)));
    await measureSpeed(bench, sides, { rounds, perRound, take });
    for (const { name, start } of sides) {
      const told = await misfortunes({ start, url: database.url, take, size: bench.size });
      for (const { misfortune, outcome } of told) bench.tell(`${name}: ${misfortune}: ${outcome}`);
    }
  } finally {
    rmSync(folder, { recursive: true });
    await database.drop();
  }
}

async function measureSpeed(
  bench: Bench,
  sides: readonly Server[],
  { rounds, perRound, take }: { readonly rounds: number; readonly perRound: number; readonly take: Numbers },
): Promise<void> {
  const servers = await Promise.all(sides.map(({ start }) => start()));
  const cost = sides.map(() => [] as number[]);
  const round = async (i: number, callers: number): Promise<number> => {
    const server = servers[i]!;
    const load = await openLoad(server.port, callers);
    const requests = take(perRound).map((id) => captureRequest(id, randomUUID(), null));
    const before = await server.cpuMicroseconds();
    const elapsedMs = await load.run(requests, 201);
    cost[i]!.push(((await server.cpuMicroseconds()) - before) / perRound);
    load.close();
    return (perRound * 1_000) / elapsedMs;
  };
  try {
    for (let n = 0; n < bench.size(...ROUNDS_TO_COMPILE); n += 1)
      for (const i of sides.keys()) await round(i, 32);
    for (const callers of CALLERS) {
      const all = sides.map(({ name }, i) => [name, () => round(i, callers)] as const);
      const rates = await sideBySide(rounds, Object.fromEntries(all) as Record<string, Side>, WARM_UPS);
      for (const [i, { name, reach }] of sides.entries()) {
        if (i === 0) continue;
        const atLeast = reach[callers];
        bench.report(
          compare({
            suite: SUITE,
            work: `captures over HTTP, PostgreSQL, ${callers} callers`,
            against: name,
            ...(atLeast !== undefined && { atLeast }),
            ours: rates["Holdfast"]!,
            theirs: rates[name]!,
            show: perSecond,
          }),
        );
      }
    }
    for (const [i, { name }] of sides.entries()) {
      if (i === 0) continue;
      bench.report(
        compare({
          suite: SUITE,
          work: "CPU of such a capture, 32 callers",
          against: name,
          ...(i === 1 && { atMost: 1 }),
          ours: cost[0]!.slice(-rounds),
          theirs: cost[i]!.slice(-rounds),
          show: inMicroseconds,
        }),
      );
    }
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}
