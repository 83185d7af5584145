import { setTimeout as pause } from "node:timers/promises";
import { HoldfastCli } from "../support/program/holdfast-cli";
import type { HoldfastProcess } from "../support/program/holdfast-process";
import { describeWithPostgres } from "../support/servers/servers";
import { signed, WEBHOOK_SECRET } from "../support/stripe-stand-in/signed-event";
import type { StripeEvent } from "../support/stripe-stand-in/stripe-events";
import { StripeStandIn } from "../support/stripe-stand-in/stripe-stand-in";
import { size } from "../support/test-size";

/**
 * Hints of the built program, seen from outside, with Stripe's stand-in. Nothing else than hints asks: the passes that
 * reconcile are switched off.
 */

jest.setTimeout(180_000);
const WITHIN_MS = 20_000;
/** From Stripe's word to the end of a capture that nobody knew the outcome of. */
const SETTLED_WITHIN_MS = 1_000;
const CAPTURES = size(20, 8);

const holdfast = new HoldfastCli();
const running: HoldfastProcess[] = [];
let stripe: StripeStandIn;
let sent = 0;

beforeEach(async () => {
  stripe = new StripeStandIn();
  await stripe.listen();
});
afterEach(async () => {
  await endServers();
  await stripe.close();
});

async function endServers(): Promise<void> {
  await Promise.all(running.splice(0).map((server) => server.end("SIGKILL")));
}

interface Started {
  readonly url: string;
  readonly process: HoldfastProcess;
}

async function start(flags: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Started> {
  const common = ["--port", "0", "--shutdown-delay", "0", "--pass-interval", "0", "--sandbox-limit", "0"];
  const started = holdfast.start(["serve", ...common, "--gateway", "stripe:", ...flags], {
    STRIPE_API_KEY: "sk_test_abc",
    HOLDFAST_STRIPE_URL: stripe.url,
    ...env,
  });
  running.push(started);
  return { url: await started.url(), process: started };
}

const withSecret = { HOLDFAST_STRIPE_WEBHOOK_SECRETS: `whsec_${"0".repeat(32)},${WEBHOOK_SECRET}` };
const silent = Array.from({ length: 50 }, () => "error_before_acting" as const);
const listless = ["--gateway-catch-up", "0"];

async function post(url: string, path: string, body: object = {}) {
  const answer = await fetch(url + path, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": `k${(sent += 1)}` },
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: await answer.json() };
}

async function deliver(url: string, event: StripeEvent, signing = {}): Promise<number> {
  const { body, signature } = signed(event, signing);
  const headers = { "stripe-signature": signature };
  return (await fetch(`${url}/gateway-events/stripe`, { method: "POST", headers, body })).status;
}

/** A capture that Stripe has carried out, and answered with an error. */
async function lostCapture(url: string): Promise<string> {
  const card = { amount: 5_000, currency: "EUR", paymentMethod: "pm_card_visa" };
  const { payment } = (await post(url, "/payments", card)).body;
  stripe.arm("capture", "stored_500_after_acting");
  expect((await post(url, `/payments/${payment.id}/capture`)).status).toBe(202);
  return payment.id as string;
}

/** As long as the schedule of a hint that was tried a few times in vain. */
async function eventually<T>(ask: () => Promise<T>, isIt: (answer: T) => boolean): Promise<T> {
  const deadline = performance.now() + WITHIN_MS;
  for (;;) {
    const answer = await ask();
    if (isIt(answer) || performance.now() > deadline) return answer;
    await pause(50);
  }
}

const statusOf = async (url: string, id: string) =>
  ((await (await fetch(`${url}/payments/${id}`)).json()) as { payment: { status: string } }).payment.status;
const expectCaptured = async (url: string, id: string) => {
  const status = await eventually(
    () => statusOf(url, id),
    (now) => now === "captured",
  );
  expect(status).toBe("captured");
};
/** Until then the hint is lent, and a kill leaves it so for a while. */
const wasTriedInVain = async (url: string) => {
  const inVain = 'outcome="unanswered"';
  expect(
    await eventually(
      () => metricsOf(url),
      (text) => text.includes(inVain),
    ),
  ).toContain(inVain);
};
const metricsOf = async (url: string) => (await fetch(`${url}/metrics`)).text();

test("the server settles a capture whose answer was lost as soon as Stripe's webhook hints at it, and counts", async () => {
  const { url, process } = await start(["--store", "memory:", ...listless], withSecret);
  const id = await lostCapture(url);
  expect(await statusOf(url, id)).toBe("capturing");
  const event = stripe.world.events.all.find(({ type }) => type === "payment_intent.succeeded")!;
  expect(await deliver(url, event, { secret: "whsec_somebody_elses_secret_00" })).toBe(400);
  expect(await deliver(url, event)).toBe(200);
  await expectCaptured(url, id);
  expect(await deliver(url, event)).toBe(200);
  const metrics = await eventually(
    () => metricsOf(url),
    (text) => /holdfast_hints_worked_total\{outcome="done"\} 1/.test(text),
  );
  expect(metrics).toContain('holdfast_hints_worked_total{outcome="done"} 1');
  expect(metrics).toContain('holdfast_gateway_events_total{source="webhook",reception="accepted"} 1');
  expect(metrics).toContain('holdfast_gateway_events_total{source="webhook",reception="duplicate"} 1');
  expect(metrics).toMatch(/holdfast_hints_waiting 0/);
  expect(stripe.world.moves.map(({ kind }) => kind)).toEqual(["authorize", "capture"]);
  const { stdout, stderr } = await process.end("SIGTERM");
  expect(stdout + stderr).not.toContain(WEBHOOK_SECRET.slice(6));
});

/** How long it takes from each hint, sent to `told`, until `asked` says that the capture is settled; in ascending order. */
async function settlingMs(told: readonly string[], asked: readonly string[]): Promise<readonly number[]> {
  const lasted: number[] = [];
  for (let n = 0; n < CAPTURES; n += 1) {
    const [url, other] = [told[n % told.length]!, asked[n % asked.length]!];
    const id = await lostCapture(url);
    expect(await statusOf(other, id)).toBe("capturing");
    const hint = stripe.world.events.all.findLast(({ type }) => type === "payment_intent.succeeded")!;
    const begun = performance.now();
    expect(await deliver(url, hint)).toBe(200);
    while ((await statusOf(other, id)) !== "captured" && performance.now() - begun < WITHIN_MS)
      await pause(5);
    lasted.push(performance.now() - begun);
  }
  return lasted.sort((a, b) => a - b);
}

/** One that the machine kept waiting says nothing about the server. */
function expectWithinASecond(lasted: readonly number[]): void {
  expect(lasted.at(-2)).toBeLessThan(SETTLED_WITHIN_MS);
}

test("the server settles unknown captures within a second of their hints, keeps a hint over a kill, on SQLite, and follows it when it is there again", async () => {
  const flags = ["--store", "sqlite:./data/hints.db", ...listless];
  const first = await start(flags, withSecret);
  expectWithinASecond(await settlingMs([first.url], [first.url]));

  const id = await lostCapture(first.url);
  // Stripe does not answer questions for now, so the hint has to wait.
  stripe.arm("read", ...silent);
  const event = stripe.world.events.all.findLast(({ type }) => type === "charge.captured")!;
  expect(await deliver(first.url, event)).toBe(200);
  await wasTriedInVain(first.url);
  await endServers();
  stripe.armed.clear();
  const second = await start(flags, withSecret);
  expect(await deliver(second.url, event)).toBe(200);
  expect(await metricsOf(second.url)).toContain('reception="duplicate"} 1');
  await expectCaptured(second.url, id);
});

test("the server without webhooks reads Stripe's list, also of the time when it was not there", async () => {
  const flags = ["--store", "sqlite:./data/list.db", "--gateway-catch-up", "1"];
  const first = await start(flags);
  const id = await lostCapture(first.url);
  await expectCaptured(first.url, id);
  stripe.arm("refund", "fails_later");
  expect((await post(first.url, `/payments/${id}/refunds`, { amount: 2_000 })).status).toBe(201);
  await endServers();
  stripe.timePasses();
  const second = await start(flags);
  const refunded = await eventually(
    async () =>
      (await (await fetch(`${second.url}/payments/${id}`)).json()) as { payment: { amountRefunded: number } },
    ({ payment }) => payment.amountRefunded === 0,
  );
  expect(refunded).toMatchObject({ payment: { refunds: [{ status: "failed" }] } });
  // Without a signing secret there is no route that would take events.
  expect(await deliver(second.url, stripe.world.events.all[0]!)).toBe(404);
});

test("gateway catch-up reads the list since a time, and says what was new", async () => {
  const { url } = await start(["--store", "memory:", ...listless], withSecret);
  const id = await lostCapture(url);
  const run = (...args: string[]) => holdfast.run(["--url", url, "gateway", "catch-up", ...args]);
  const since = new Date(Date.now() - 86_400_000).toISOString();
  expect(await run("--since", since)).toMatchObject({
    status: 0,
    stdout: "3 of 3 events were new; the server asks about their payments now\n",
  });
  await expectCaptured(url, id);
  const again = await run("--since", since, "--json");
  expect(again.stderr).toBe("");
  const longAgo = await run("--since", new Date(Date.now() - 31 * 86_400_000).toISOString());
  expect(longAgo).toMatchObject({
    status: 0,
    stderr: expect.stringContaining("Stripe keeps events for 30 days: older ones are in no list"),
  });
  expect(JSON.parse(again.stdout)).toEqual({ since, events: 3, accepted: 0, unread: [] });
  expect(await run("--since", "yesterday")).toMatchObject({
    status: 64,
    stderr: expect.stringContaining("--since must be a time in ISO 8601"),
  });
  expect(await run()).toMatchObject({ status: 64 });
});

describeWithPostgres("hints on PostgreSQL", (server) => {
  test("unknown captures are settled within a second of their hints, whichever of two servers is told and asked", async () => {
    const flags = ["--store", server.url, "--locks", "postgres:", ...listless];
    const urls = [(await start(flags, withSecret)).url, (await start(flags, withSecret)).url];
    expectWithinASecond(await settlingMs(urls, urls.toReversed()));
    await endServers();
  });

  test("a hint that one server has taken is followed, over its kill, by another one", async () => {
    const flags = ["--store", server.url, ...listless];
    const first = await start(flags, withSecret);
    const id = await lostCapture(first.url);
    stripe.arm("read", ...silent);
    const event = stripe.world.events.all.find(({ type }) => type === "charge.captured")!;
    expect(await deliver(first.url, event)).toBe(200);
    await wasTriedInVain(first.url);
    await endServers();
    stripe.armed.clear();
    const second = await start(flags, withSecret);
    await expectCaptured(second.url, id);
    expect(await deliver(second.url, event)).toBe(200);
    expect(await metricsOf(second.url)).toContain('reception="duplicate"} 1');
    await endServers();
  });
});
