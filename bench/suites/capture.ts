// Everybody wants the same capture at once: one key from 1,000 callers, beside 1,000 captures of 1,000 payments.
import { randomUUID } from "node:crypto";
import { captureRequest, openLoad } from "../load/http-load";
import { createApiKey, startHoldfast } from "../load/holdfast-server";
import { compare, inMilliseconds, sideBySide } from "../measuring/side-by-side";
import type { Bench } from "../measuring/suite";
import { numbered } from "../store/numbered-payments";
import { sqlitePayments } from "../store/sqlite-payments";

const WARM_UPS = 2;

export async function capture(bench: Bench): Promise<void> {
  const rounds = bench.rounds(15);
  const callers = bench.size(1_000, 20);
  const payments = await sqlitePayments((rounds + WARM_UPS) * (callers + 1));
  const secret = await createApiKey(payments.file);
  const server = await startHoldfast(payments.file);
  const load = await openLoad(server.port, callers);
  let n = 0;
  const captureNext = (key: string): string =>
    captureRequest(numbered(payments.original, (n += 1)), key, secret);
  try {
    const { ours, theirs } = await sideBySide(
      rounds,
      {
        ours: () => load.run(Array<string>(callers).fill(captureNext(randomUUID())), 201),
        theirs: () =>
          load.run(
            Array.from({ length: callers }, () => captureNext(randomUUID())),
            201,
          ),
      },
      WARM_UPS,
    );
    bench.report(
      compare({
        suite: "capture",
        work: "one key from 1,000 callers",
        against: "1,000 captures of 1,000 payments",
        atMost: 2,
        ours,
        theirs,
        show: inMilliseconds,
      }),
    );
  } finally {
    load.close();
    await server.stop();
    payments.remove();
  }
}
