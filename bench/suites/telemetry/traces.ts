// What it costs a capture that it could be traced, and what it costs that one in a hundred is: three servers get the same
// captures in turn. Spans go to a collector in this process, whose time does not count.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { TraceCollector } from "../../../tests/support/receivers/trace-collector";
import { createApiKey, startHoldfast } from "../../load/holdfast-server";
import { captureRequest, openLoad } from "../../load/http-load";
import { compare, inMicroseconds, sideBySide, type Side } from "../../measuring/side-by-side";
import type { Bench } from "../../measuring/suite";
import { numbered } from "../../store/numbered-payments";
import { sqlitePayments } from "../../store/sqlite-payments";

const CONNECTIONS = 16;
const WARM_UPS = 3;
const WITHOUT_API = join(__dirname, "../../../../load/without-telemetry-api.js");
const ONE_IN_A_HUNDRED = {
  OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
  OTEL_TRACES_SAMPLER_ARG: "0.01",
};

export async function traces(bench: Bench): Promise<void> {
  const rounds = bench.rounds(61);
  const captures = bench.size(320, 20);
  const collector = await TraceCollector.start();
  const closers: (() => Promise<void>)[] = [];
  /** A server over a store of its own. */
  const side = async (
    args: readonly string[],
    flags: readonly string[] = [],
    environment: Readonly<Record<string, string>> = {},
  ): Promise<Side> => {
    const payments = await sqlitePayments((rounds + WARM_UPS) * captures);
    const secret = await createApiKey(payments.file);
    const server = await startHoldfast(payments.file, args, flags, { environment });
    const load = await openLoad(server.port, CONNECTIONS);
    closers.push(async () => {
      load.close();
      await server.stop();
      payments.remove();
    });
    let n = 0;
    return async () => {
      const requests = Array.from({ length: captures }, () =>
        captureRequest(numbered(payments.original, (n += 1)), randomUUID(), secret),
      );
      const before = await server.cpuMicroseconds();
      await load.run(requests, 201);
      return ((await server.cpuMicroseconds()) - before) / captures;
    };
  };
  try {
    const { without, api, sampled } = await sideBySide(
      rounds,
      {
        without: await side(["-r", WITHOUT_API]),
        api: await side([]),
        sampled: await side([], ["--trace", collector.url], ONE_IN_A_HUNDRED),
      },
      WARM_UPS,
    );
    const row = { suite: "traces", theirs: without, against: "without the API", show: inMicroseconds };
    const work = "CPU of `POST …/capture`, SQLite";
    bench.report(compare({ ...row, work: `${work}, OpenTelemetry's API loaded`, atMost: 1.03, ours: api }));
    bench.report(compare({ ...row, work: `${work}, 1 % sampled`, atMost: 1.08, ours: sampled }));
    bench.tell(`${collector.spans.length} spans came to the collector`);
  } finally {
    for (const close of closers) await close();
    await collector.close();
  }
}
