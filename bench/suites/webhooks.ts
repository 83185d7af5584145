// What it costs a capture, as callers make it, that one webhook endpoint is told of it: two servers get the same captures in
// turn, one of which has an endpoint. Beside them, what posting the same bodies costs where nothing else is done.
import { fork, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Sending } from "../load/bare-sender";
import { createApiKey, startHoldfast } from "../load/holdfast-server";
import { captureRequest, openLoad } from "../load/http-load";
import { compare, inMicroseconds, sideBySide, type Side } from "../measuring/side-by-side";
import type { Bench } from "../measuring/suite";
import { numbered } from "../store/numbered-payments";
import { sqlitePayments } from "../store/sqlite-payments";

const SUITE = "webhooks";
const CONNECTIONS = 16;
const WARM_UPS = 3;
/** As many as are under way to one endpoint. */
const AT_ONCE = 4;
/** What became of the last delivery is written down after the receiver has answered. */
const SETTLED_MS = 60;

export async function webhooks(bench: Bench): Promise<void> {
  const rounds = bench.rounds(31);
  const captures = bench.size(400, 20);
  const taker = await startTaker();
  const closers: (() => Promise<void> | void)[] = [];
  /** A server over a store of its own. */
  const side = async (hasEndpoint: boolean): Promise<Side> => {
    const payments = await sqlitePayments((rounds + WARM_UPS) * captures);
    const secret = await createApiKey(payments.file);
    const server = await startHoldfast(payments.file, [], ["--webhooks-allow", "http,private"]);
    if (hasEndpoint) await createEndpoint(server.port, secret, `${taker.url}/`);
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
      // All of it is counted, also what is done behind the captures' backs.
      if (hasEndpoint) await taker.taken(captures);
      await pause(SETTLED_MS);
      return ((await server.cpuMicroseconds()) - before) / captures;
    };
  };
  const sender = fork(join(__dirname, "../load/bare-sender.js"));
  const send: Side = async () => {
    sender.send({ url: taker.url, body: taker.body(), count: captures, atOnce: AT_ONCE } satisfies Sending);
    const [microseconds] = (await once(sender, "message")) as [number];
    await taker.taken(captures);
    return microseconds / captures;
  };
  try {
    const measured = await sideBySide(
      rounds,
      { with: await side(true), without: await side(false), send },
      WARM_UPS,
    );
    const { without, send: bare } = measured;
    const delivery = measured.with.map((cost, round) => cost - without[round]!);
    const row = { suite: SUITE, show: inMicroseconds };
    bench.report(
      compare({
        ...row,
        work: "CPU of `POST …/capture`, SQLite, with one webhook endpoint, without the request that is sent",
        against: "the same without an endpoint",
        atMost: 1.15,
        ours: measured.with.map((cost, round) => cost - bare[round]!),
        theirs: without,
      }),
    );
    bench.report(
      compare({
        ...row,
        work: "CPU of `POST …/capture`, SQLite, with one webhook endpoint, its delivery included",
        against: "the same without an endpoint",
        ours: measured.with,
        theirs: without,
      }),
    );
    bench.report(
      compare({
        ...row,
        work: "CPU of one delivery, SQLite",
        against: "undici posting the same body, signed",
        ours: delivery,
        theirs: bare,
      }),
    );
  } finally {
    sender.disconnect();
    for (const close of closers) await close();
    taker.stop();
  }
}

async function createEndpoint(port: number, secret: string, url: string): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}/webhook-endpoints`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify({ url }),
  });
  if (answer.status !== 201) throw new Error(`no endpoint was made: ${await answer.text()}`);
}

async function startTaker() {
  const child: ChildProcess = fork(join(__dirname, "../load/webhook-taker.js"));
  const [port] = (await once(child, "message")) as [number];
  let taken = 0;
  let body = "";
  return {
    url: `http://127.0.0.1:${port}`,
    body: () => body,
    /** Resolves when so many more have come. */
    taken: async (count: number) => {
      const heard = once(child, "message");
      child.send((taken += count));
      [body] = (await heard) as [string];
    },
    stop: () => child.disconnect(),
  };
}
