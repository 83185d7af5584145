import { ConsoleWorld, type ConsoleBrowser } from "../../support/console/console-world";

const POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'";
const LIMIT_BYTES = 50_000;

let world: ConsoleWorld;
let browser: ConsoleBrowser;
beforeEach(async () => {
  world = new ConsoleWorld();
  await world.http.open();
  browser = world.browser();
});
afterEach(() => world.http.close());

const idOf = async (wanted: Record<string, unknown> = {}) => world.http.authorize(wanted);

/** A void that met a capture made elsewhere: nobody but a person can decide. */
async function inReview(): Promise<{ payment: string; operation: string }> {
  const payment = await idOf({ paymentMethod: "tok_void_captured_elsewhere" });
  const { body } = await world.http.call("POST", `/payments/${payment}/void`, {
    headers: { "idempotency-key": "void-1" },
    body: {},
  });
  return { payment, operation: body.void.id as string };
}

test("every page of the console has the policy, nothing inline, one title and one heading, and less than 50 kB", async () => {
  for (let n = 0; n < 30; n += 1) await idOf({ reference: `order-${n}` });
  const { payment, operation } = await inReview();
  const paths = [
    "/console",
    "/console/payments",
    `/console/payments/${payment}`,
    `/console/payments/${payment}/observe`,
    "/console/reviews",
    `/console/reviews/${operation}`,
    "/console/locks",
    "/console/keys",
  ];
  for (const path of paths) {
    const { status, headers, text } = await browser.get(path);
    expect([path, status, headers.get("content-security-policy")]).toEqual([path, 200, POLICY]);
    expect([path, text.match(/<h1>/g)?.length, text.match(/<title>/g)?.length]).toEqual([path, 1, 1]);
    expect(text).not.toMatch(/ style="| on\w+="|<style|<script(?! src="\/console\/)/);
    expect([path, text.length < LIMIT_BYTES]).toEqual([path, true]);
  }
});

test("a full page of payments is less than 50 kB, and leads to the next one", async () => {
  for (let n = 0; n < 27; n += 1) await idOf({ reference: "x".repeat(255), metadata: {} });
  const first = await browser.get("/console/payments");
  expect(first.text.length).toBeLessThan(LIMIT_BYTES);
  const next = /rel="next" href="([^"]+)"/.exec(first.text)![1]!.replaceAll("&amp;", "&");
  const second = await browser.get(next);
  expect(second.text.match(/<tr>/g)).toHaveLength(1 + 2);
  expect(second.text).toContain("First page");
});

test("the style and the script of the console are its own, and the script is at most 10 kB", async () => {
  const { text } = await browser.get("/console");
  for (const [, path] of text.matchAll(/(?:href|src)="(\/console\/assets\/[^"]+)"/g)) {
    const { status, headers, text: content } = await browser.get(path!);
    expect([path, status]).toEqual([path, 200]);
    if (path!.endsWith(".js")) expect(content.length).toBeLessThanOrEqual(10_000);
    expect((await browser.get(path!, { "if-none-match": headers.get("etag")! })).status).toBe(304);
  }
});

test("a payment is found by its id, an operation's, its reference, the gateway's, and its amount", async () => {
  const id = await idOf({ reference: "order-7", amount: 1_234 });
  await idOf({ reference: "other", amount: 99 });
  const { body } = await world.http.capture(id, "capture-1");
  const { facts } = (await world.http.world.context.payments.find(id as never))!.payment;
  const capture = facts.operations.find(({ kind }) => kind === "capture")!;
  const found = async (text: string) =>
    (await browser.follow(`/console/payments?q=${encodeURIComponent(text)}`)).path;
  for (const text of [id, body.capture.id as string, "order-7", capture.gatewayReference!])
    expect(await found(text)).toMatch(new RegExp(`^/console/payments/${id}(#|$)`));
  const byAmount = await browser.get("/console/payments?q=12.34+EUR");
  expect(byAmount.text).toContain(id);
  expect(byAmount.text.match(/<tr>/g)).toHaveLength(2);
  expect((await browser.get("/console/payments?q=nothing")).text).toContain("No payment matches");
});

test("payments are filtered by status, merchant and day", async () => {
  const id = await idOf();
  const today = new Date().toISOString().slice(0, 10);
  const count = async (query: string) => (await browser.get(`/console/payments?${query}`)).text.includes(id);
  expect(await count("status=authorized")).toBe(true);
  expect(await count("status=captured")).toBe(false);
  expect(await count("merchant=default")).toBe(true);
  expect(await count("merchant=acme")).toBe(false);
  expect(await count("to=2001-01-01")).toBe(false);
  expect((await browser.get(`/console/payments?from=${today}x`)).status).toBe(400);
});

test.each(["capture", "void"] as const)(
  "a %s says what it does, asks once more, and moves money once, however often it is sent",
  async (name) => {
    const id = await idOf();
    const path = `/console/payments/${id}`;
    const asked = await browser.follow(`${path}/${name}`);
    expect(asked.path).toMatch(/key=console-/);
    expect(asked.text).toContain("What this does");
    const form = await browser.form(asked.path, `${path}/${name}`);
    const [first, second] = await Promise.all([
      browser.post(`${path}/${name}`, form),
      browser.post(`${path}/${name}`, form),
    ]);
    expect([first.status, second.status]).toEqual([303, 303]);
    expect(first.headers.get("location")).toBe(second.headers.get("location"));
    const moves = (await world.http.world.simulated.moves(id as never)).filter(({ kind }) => kind === name);
    expect(moves).toHaveLength(1);
    expect((await browser.get(first.headers.get("location")!)).text).toContain(
      name === "capture" ? "Captured" : "Voided",
    );
    // The way back and a reload ask for the same again.
    expect((await browser.get(asked.path)).text).toContain("This was sent before");
  },
);

test("a part of a captured payment is refunded, and an amount that is too much is refused before anything is sent", async () => {
  const id = await idOf();
  await world.http.capture(id, "capture-1");
  const path = `/console/payments/${id}`;
  expect((await browser.follow(`${path}/refund?amount=10.01`)).status).toBe(400);
  expect((await browser.follow(`${path}/refund?amount=1.001`)).status).toBe(400);
  const asked = await browser.follow(`${path}/refund?amount=2.50`);
  expect(asked.text).toContain("7.50 EUR stays captured");
  const sent = await browser.submit(asked.path, `${path}/refund`);
  expect((await browser.get(sent.headers.get("location")!)).text).toContain("Refunded 2.50 EUR.");
  const { payment } = (await world.http.get(`/payments/${id}`)).body;
  expect(payment.amountRefunded).toBe(250);
});

test("the gateway is asked about a payment, and its answers stand beside what is recorded", async () => {
  const id = await idOf();
  const answer = await browser.submit(`/console/payments/${id}/observe`, `/console/payments/${id}/observe`);
  expect(answer.status).toBe(200);
  expect(answer.text).toContain("Nothing contradicts what is recorded");
});

test("a verdict needs evidence, and is recorded with it", async () => {
  const { payment, operation } = await inReview();
  const path = `/console/reviews/${operation}`;
  expect((await browser.get("/console/reviews")).text).toContain(path);
  expect((await browser.get(path)).text).toContain("What the gateway says now");
  for (const evidence of ["", "   "])
    expect((await browser.submit(path, path, { outcome: "not_moved", evidence })).status).toBe(400);
  expect((await browser.submit(path, path, { evidence: "seen" })).status).toBe(400);
  const decided = await browser.submit(path, path, {
    outcome: "not_moved",
    evidence: "the dashboard shows a capture",
    overrideReason: "it was taken by hand",
  });
  expect([decided.status, decided.headers.get("location")]).toEqual([
    303,
    `/console/payments/${payment}#${operation}`,
  ]);
  const { body } = await world.http.get(`/reviews/${operation}`);
  expect(JSON.stringify(body.events)).toContain("the dashboard shows a capture");
});

test("a verdict that the gateway contradicts is refused, and what was written stays in the form", async () => {
  const { operation } = await inReview();
  const path = `/console/reviews/${operation}`;
  const refused = await browser.submit(path, path, { outcome: "moved", evidence: "I believe so" });
  expect(refused.status).toBe(409);
  expect(refused.text).toContain("I believe so");
  expect(refused.text).toContain("overrideReason");
});

test("keys are made once however often the form is sent, and revoked", async () => {
  const form = await browser.form("/console/keys", "/console/keys");
  const [first, second] = await Promise.all(
    [0, 1].map(() => browser.post("/console/keys", { ...form, merchant: "acme", operator: "on" })),
  );
  const secretIn = (text: string) => /<code class="secret">([^<]+)</.exec(text)?.[1];
  expect(secretIn(first!.text)).toMatch(/^[\w-]{20,}$/);
  expect(secretIn(second!.text)).toBe(secretIn(first!.text));
  expect(await world.keys.list()).toHaveLength(1);
  const operator = await world.signedIn(secretIn(first!.text)!);
  const { id } = (await world.keys.list())[0]!;
  expect((await operator.get("/console/keys")).text).toContain("operator");
  await operator.submit("/console/keys", `/console/keys/${id}/revoke`);
  expect((await operator.get("/console/keys")).headers.get("location")).toMatch(/^\/console\/sign-in/);
});

test("what is not there is told as a page, with the API's code", async () => {
  const { status, text } = await browser.get("/console/payments/0190a6b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b");
  expect(status).toBe(404);
  expect(text).toContain("payment_not_found");
  expect((await browser.get("/console/elsewhere")).status).toBe(404);
});
