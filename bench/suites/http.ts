// A capture over HTTP with everything on, beside what it is made of: the same durable commits alone, the same middleware
// without the work, and bare Express answering the same bytes.
import { randomUUID } from "node:crypto";
import { captureRequest, openLoad, type Load } from "../load/http-load";
import { createApiKey, startHoldfast } from "../load/holdfast-server";
import { startChild } from "../load/start-child";
import { spreadOf } from "../measuring/row";
import { compare, inMicroseconds, perSecond, sideBySide, type Side } from "../measuring/side-by-side";
import type { Bench } from "../measuring/suite";
import { numbered } from "../store/numbered-payments";
import { recordCaptures } from "../store/recorded-captures";
import { sqlitePayments } from "../store/sqlite-payments";

const SUITE = "http";
const CONNECTIONS = 16;
const WARM_UPS = 2;

export async function http(bench: Bench): Promise<void> {
  const rounds = bench.rounds(21);
  const captures = bench.size(1_000, 20);
  const payments = await sqlitePayments((rounds + WARM_UPS) * captures);
  const recorded = await recordCaptures((rounds + WARM_UPS) * captures);
  const secret = await createApiKey(payments.file);
  const holdfast = await startHoldfast(payments.file);
  const bare = await startChild("load/bare-express");
  const middleware = await startChild("load/middleware-alone");
  const loads: Load[] = [];
  const cost = { ours: [] as number[], bare: [] as number[], middleware: [] as number[] };
  try {
    const side = async (
      name: keyof typeof cost,
      server: { port: number; cpuMicroseconds(): Promise<number> },
      status: number,
    ): Promise<Side> => {
      const load = await openLoad(server.port, CONNECTIONS);
      loads.push(load);
      let n = 0;
      return async () => {
        const requests = Array.from({ length: captures }, () =>
          captureRequest(numbered(payments.original, (n += 1)), randomUUID(), secret),
        );
        const before = await server.cpuMicroseconds();
        const elapsedMs = await load.run(requests, status);
        cost[name].push(((await server.cpuMicroseconds()) - before) / captures);
        return (captures * 1_000) / elapsedMs;
      };
    };
    const measured = await sideBySide(
      rounds,
      {
        ours: await side("ours", holdfast, 201),
        commits: async () => (captures * 1_000) / recorded.replay(captures),
        bare: await side("bare", bare, 201),
        middleware: await side("middleware", middleware, 201),
      },
      WARM_UPS,
    );
    const row = {
      suite: SUITE,
      work: "`POST …/capture`, SQLite, everything on",
      ours: measured.ours,
      show: perSecond,
    };
    const [commits, bareRate] = [spreadOf(measured.commits).median, spreadOf(measured.bare).median];
    const slower = commits < bareRate ? "commits" : "bare";
    bench.report(
      compare({
        ...row,
        against: "the same durable commits alone",
        theirs: measured.commits,
        ...(slower === "commits" && { atLeast: 0.5 }),
      }),
    );
    bench.report(
      compare({
        ...row,
        against: "bare Express, the same bytes",
        theirs: measured.bare,
        ...(slower === "bare" && { atLeast: 0.5 }),
      }),
    );
    bench.report(
      compare({ ...row, against: "the same middleware without the work", theirs: measured.middleware }),
    );
    const cpu = { suite: SUITE, show: inMicroseconds, against: "bare Express" };
    const theirs = cost.bare.slice(WARM_UPS);
    bench.report(compare({ ...cpu, work: "CPU of a capture", ours: cost.ours.slice(WARM_UPS), theirs }));
    bench.report(
      compare({
        ...cpu,
        work: "CPU of its middleware",
        atMost: 1.5,
        ours: cost.middleware.slice(WARM_UPS),
        theirs,
      }),
    );
  } finally {
    for (const load of loads) load.close();
    recorded.close();
    await Promise.all([holdfast.stop(), bare.stop(), middleware.stop()]);
    payments.remove();
  }
}
