// What it costs a capture that one webhook endpoint is told of it: the same captures with the endpoint and without.
import { fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { tokens } from "../../src/infrastructure/composition/container/tokens";
import { openWebhooks } from "../../src/infrastructure/composition/opening/open-webhooks";
import { parseMerchantId } from "../../src/domain/identifiers";
import { cpuNanoseconds } from "../measuring/cost";
import { compare, sideBySide } from "../measuring/side-by-side";
import type { Bench } from "../measuring/suite";
import { capture } from "../store/authorized";
import { openSqliteApplication, sqlitePayments } from "../store/sqlite-payments";

const WARM_UPS = 3;
/** Captures under way at once, so that a commit is shared as on a busy server. */
const AT_ONCE = 16;
const LOOK_EVERY_MS = 5;

export async function webhooks(bench: Bench): Promise<void> {
  const rounds = bench.size(21, 1);
  const captures = bench.size(800, 32);
  const payments = await sqlitePayments(2 * (rounds + WARM_UPS) * captures);
  const application = await openSqliteApplication(payments.file, { "webhooks-allow": "http,private" });
  const open = await openWebhooks(application.container);
  const store = application.container.get(tokens.webhookStore);
  const taker = fork(join(__dirname, "../load/webhook-taker.js"));
  const [port] = (await once(taker, "message")) as [number];
  const merchant = parseMerchantId("default");
  const { endpoint } = await open.endpoints.create(merchant, {
    url: `http://127.0.0.1:${port}/`,
    types: null,
    description: null,
    ordered: true,
  });
  open.start();
  let n = 0;
  const some = async (enabled: boolean): Promise<number> => {
    await open.endpoints.change(endpoint.id, merchant, { enabled });
    return cpuNanoseconds(captures, async () => {
      for (let done = 0; done < captures; done += AT_ONCE)
        await Promise.all(
          Array.from({ length: AT_ONCE }, () => capture(application, payments.original, (n += 1))),
        );
      // All of it is counted, also what is done behind the captures' backs.
      while (enabled && !(await isDelivered())) await pause(LOOK_EVERY_MS);
    });
  };
  const isDelivered = async (): Promise<boolean> => {
    const { position } = await store.fanOutState();
    const latest = await application.container.get(tokens.eventFeed).latest();
    return position >= latest && (await store.backlog(new Date())).pending === 0;
  };
  try {
    const { ours, theirs } = await sideBySide(
      rounds,
      { ours: () => some(true), theirs: () => some(false) },
      WARM_UPS,
    );
    bench.report(
      compare({
        suite: "webhooks",
        work: "CPU of a capture without its HTTP, SQLite, with its delivery to one webhook endpoint",
        against: "the same without the endpoint",
        atMost: 1.15,
        ours,
        theirs,
        show: (value) => `${(value / 1_000).toFixed(0)} µs`,
      }),
    );
  } finally {
    await open.close();
    taker.disconnect();
    await application.close();
    payments.remove();
  }
}
