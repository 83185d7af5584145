// What it costs a capture that it is told of: two servers, one of which tells nothing, get the same captures in turn.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { createApiKey, startHoldfast } from "../load/holdfast-server";
import { captureRequest, openLoad } from "../load/http-load";
import { compare, inMicroseconds, sideBySide, type Side } from "../measuring/side-by-side";
import type { Bench } from "../measuring/suite";
import { numbered } from "../store/numbered-payments";
import { sqlitePayments } from "../store/sqlite-payments";

const CONNECTIONS = 16;
const WARM_UPS = 3;
const WITHOUT_EVENTS = join(__dirname, "../../../load/without-events.js");

export async function events(bench: Bench): Promise<void> {
  const rounds = bench.rounds(121);
  const captures = bench.size(160, 20);
  const closers: (() => Promise<void>)[] = [];
  /** A server over a store of its own. */
  const side = async (args: readonly string[]): Promise<Side> => {
    const payments = await sqlitePayments((rounds + WARM_UPS) * captures);
    const secret = await createApiKey(payments.file);
    const server = await startHoldfast(payments.file, args);
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
    const { ours, theirs } = await sideBySide(
      rounds,
      { ours: await side([]), theirs: await side(["-r", WITHOUT_EVENTS]) },
      WARM_UPS,
    );
    bench.report(
      compare({
        suite: "events",
        work: "CPU of `POST …/capture`, SQLite, with its public event",
        against: "the same without the event",
        atMost: 1.05,
        ours,
        theirs,
        show: inMicroseconds,
      }),
    );
  } finally {
    for (const close of closers) await close();
  }
}
