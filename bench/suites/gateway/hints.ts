// How soon an event of the gateway's is answered when they come at a steady rate, each signed, stored and followed, beside
// the time that there is for it. An event that waits for its turn has begun to wait when it was due.
import { once } from "node:events";
import { Agent, request, type IncomingMessage } from "node:http";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { postgresAnswers } from "../../../tests/support/servers/probes";
import { serverUrl } from "../../../tests/support/servers/server-availability";
import { signed, WEBHOOK_SECRET } from "../../../tests/support/stripe-stand-in/signed-event";
import { StripeStandIn } from "../../../tests/support/stripe-stand-in/stripe-stand-in";
import { startHoldfast } from "../../load/holdfast-server";
import { quantile } from "../../measuring/row";
import { compare, inMilliseconds, sideBySide } from "../../measuring/side-by-side";
import type { Bench } from "../../measuring/suite";
import { ownDatabase } from "../../store/own-database";

const SUITE = "hints";
const LIMIT_MS = 50;
const EVERY_MS = 20;
const PAYMENTS = 40;

export async function hints(bench: Bench): Promise<void> {
  await measure(bench, "SQLite", []);
  if (!(await postgresAnswers(serverUrl("postgres")))) {
    bench.leaveOut("answers to events of the gateway, PostgreSQL", "no PostgreSQL answers");
    return;
  }
  const database = await ownDatabase(serverUrl("postgres"));
  try {
    await measure(bench, "PostgreSQL", ["--store", database.url]);
  } finally {
    await database.drop();
  }
}

async function measure(bench: Bench, name: string, store: readonly string[]): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-hints-"));
  const stripe = new StripeStandIn();
  await stripe.listen();
  const flags = [...store, "--gateway", "stripe:", "--gateway-catch-up", "0", "--pass-interval", "0"];
  const holdfast = await startHoldfast(join(folder, "hints.db"), [], flags, {
    environment: {
      STRIPE_API_KEY: "sk_test_abc",
      HOLDFAST_STRIPE_URL: stripe.url,
      HOLDFAST_STRIPE_WEBHOOK_SECRETS: WEBHOOK_SECRET,
    },
  });
  const events = new SteadyEvents(`http://127.0.0.1:${holdfast.port}`, stripe);
  try {
    await events.prepare();
    const count = bench.size(1_000, 20);
    const { ours, theirs } = await sideBySide(bench.size(7, 1), {
      ours: () => events.p99(count),
      theirs: async () => LIMIT_MS,
    });
    bench.report(
      compare({
        suite: SUITE,
        work: `p99 of the answers to ${1_000 / EVERY_MS} signed events a second, ${name}`,
        against: "the time that there is for it",
        atMost: 1,
        ours,
        theirs,
        show: inMilliseconds,
      }),
    );
  } finally {
    events.close();
    await holdfast.stop();
    await stripe.close();
    rmSync(folder, { recursive: true });
  }
}

/** Events of Stripe's about payments that there are, so that each is followed. */
class SteadyEvents {
  private readonly agent = new Agent({ keepAlive: true });
  private sent = 0;

  constructor(
    private readonly url: string,
    private readonly stripe: StripeStandIn,
  ) {}

  async prepare(): Promise<void> {
    const body = JSON.stringify({ amount: 1_000, currency: "EUR", paymentMethod: "pm_card_visa" });
    for (let n = 0; n < PAYMENTS; n += 1) {
      const headers = { "content-type": "application/json", "idempotency-key": `order-${n}` };
      const answer = await this.post("/payments", headers, body);
      if (answer !== 201) throw new Error(`no payment: ${answer}`);
    }
  }

  /** Of one every so many milliseconds, however long the others take. */
  async p99(count: number): Promise<number> {
    const begun = performance.now();
    const answers: Promise<number>[] = [];
    for (let n = 0; n < count; n += 1) {
      const dueMs = begun + n * EVERY_MS;
      const early = dueMs - performance.now();
      if (early > 0) await pause(early);
      answers.push(this.deliver().then(() => performance.now() - dueMs));
    }
    const lasted = await Promise.all(answers);
    return quantile(
      lasted.sort((a, b) => a - b),
      0.99,
    );
  }

  close(): void {
    this.agent.destroy();
  }

  private async deliver(): Promise<void> {
    const { all } = this.stripe.world.events;
    this.sent += 1;
    const event = { ...all[this.sent % all.length], id: `evt_steady_${this.sent}` };
    const { body, signature } = signed(event);
    const status = await this.post("/gateway-events/stripe", { "stripe-signature": signature }, body);
    if (status !== 200) throw new Error(`an event was answered ${status}`);
  }

  private async post(path: string, headers: Record<string, string>, body: string): Promise<number> {
    const sent = request(this.url + path, { method: "POST", agent: this.agent, headers });
    sent.end(body);
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    response.resume();
    await once(response, "end");
    return response.statusCode ?? 0;
  }
}
