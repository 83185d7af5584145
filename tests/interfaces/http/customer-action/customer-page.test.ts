import { InMemoryGatewayLedger } from "../../../../src/infrastructure/gateways/simulated/ledgers/in-memory-gateway-ledger";
import { SimulatedGateway } from "../../../../src/infrastructure/gateways/simulated/simulated-gateway";
import { protect } from "../../../../src/interfaces/http/endpoints/customer/customer-page";
import { HttpWorld, type HttpAnswer } from "../../../support/worlds/http-world";

const returnUrl = "https://shop.example/back?order=7&lang=en";
const order = { amount: 1_250, currency: "EUR", paymentMethod: "tok_requires_action", returnUrl };

let http: HttpWorld;
let keys = 0;
beforeEach(async () => {
  http = await new HttpWorld().open();
});
afterEach(() => http.close());

const pay = (more: object = {}, key = `pay-${(keys += 1)}`): Promise<HttpAnswer> =>
  http.call("POST", "/payments", { body: { ...order, ...more }, headers: { "idempotency-key": key } });
const statusOf = async (id: string) => (await http.get(`/payments/${id}`)).body.payment.status as string;

interface Waiting {
  readonly id: string;
  /** Of the page. */
  readonly url: URL;
  readonly secret: string;
}

async function waiting(more: object = {}): Promise<Waiting> {
  const { status, body } = await pay(more);
  expect(status).toBe(201);
  const url = new URL(body.payment.nextAction.url as string);
  return { id: body.payment.id as string, url, secret: url.searchParams.get("secret") ?? "" };
}

/** As a browser sends the form, unless told otherwise. */
async function submit(
  { url }: Pick<Waiting, "url">,
  form: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<{ status: number; location: string | null; code?: string; detail?: string }> {
  const answer = await fetch(`${url.origin}${url.pathname}`, {
    method: "POST",
    redirect: "manual",
    headers: { origin: url.origin, "sec-fetch-site": "same-origin", ...headers },
    body: new URLSearchParams(form),
  });
  const text = await answer.text();
  const problem = text.startsWith("{") ? (JSON.parse(text) as { code: string; detail: string }) : {};
  return { ...problem, status: answer.status, location: answer.headers.get("location") };
}

describe("POST /payments with a returnUrl", () => {
  it("answers 201 with the address of the page, and the same key gets the same again", async () => {
    const first = await pay({}, "same");
    expect(first).toMatchObject({ status: 201, body: { payment: { status: "requires_action" } } });
    expect(first.headers.get("location")).toBe(`/payments/${first.body.payment.id}`);
    expect(first.body.payment.nextAction).toEqual({
      type: "redirect",
      url: expect.stringMatching(
        `^${http.url}/simulated-gateway/payments/[0-9a-f-]{36}\\?secret=[\\w-]{22}$`,
      ),
      expiresAt: "2026-03-01T13:00:00.000Z",
    });
    const again = await pay({}, "same");
    expect(again.status).toBe(201);
    expect(again.body.payment.nextAction).toEqual(first.body.payment.nextAction);
  });

  it("shows the next action while it lasts, in the payment and in lists, and not afterwards", async () => {
    const one = await waiting();
    const listed = await http.get("/payments?status=requires_action");
    expect(listed.body.data).toMatchObject([{ id: one.id, nextAction: { url: one.url.href } }]);
    await submit(one, { secret: one.secret, decision: "confirm" });
    const { payment } = (await http.get(`/payments/${one.id}`)).body;
    expect(payment.status).toBe("authorized");
    expect(payment).not.toHaveProperty("nextAction");
  });

  it("tells of it in the feed, without the address", async () => {
    const one = await waiting();
    const { data } = (await http.get("/events")).body;
    expect(data).toMatchObject([
      { type: "payment.requires_action", data: { operation: { status: "requires_action" } } },
    ]);
    expect(JSON.stringify(data)).not.toContain(one.secret);
    expect(JSON.stringify(data)).not.toContain("shop.example");
  });

  it("refuses a capture with what the payment is, and lets a void through", async () => {
    const { id } = await waiting();
    const tooSoon = await http.capture(id, "c");
    expect(tooSoon).toMatchObject({ status: 409, body: { code: "authorize_in_progress", retryable: true } });
    expect(tooSoon.headers.get("retry-after")).toBe("2");
    http.world.clock.advance(2_000);
    const capture = await http.capture(id, "c");
    expect(capture).toMatchObject({
      status: 409,
      body: { code: "payment_not_capturable", paymentStatus: "requires_action" },
    });
    const letGo = await http.call("POST", `/payments/${id}/void`, {
      body: {},
      headers: { "idempotency-key": "v" },
    });
    expect(letGo).toMatchObject({ status: 201, body: { payment: { status: "voided" } } });
  });

  it("says what to send where there is no returnUrl", async () => {
    const { status, body } = await pay({ returnUrl: undefined });
    expect(status).toBe(402);
    expect(body.code).toBe("authorization_declined");
    expect(body.detail).toContain("returnUrl");
  });

  it.each([
    ["another scheme", "ftp://shop.example/"],
    ["a script", "javascript:alert(1)"],
    ["http beyond this machine", "http://shop.example/"],
    ["credentials", "https://me:secret@shop.example/"],
    ["no host", "/back"],
    ["a semicolon in its host", "https://shop.example;script-src.example/"],
    ["an asterisk in its host", "https://*.example/"],
    ["a line break", "https://shop.example/\r\nSet-Cookie: a=b"],
    ["more than 2,048 characters", `https://shop.example/${"a".repeat(2_040)}`],
  ])("refuses a returnUrl with %s by name", async (_what, wrong) => {
    const { status, body } = await pay({ returnUrl: wrong });
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: "invalid_request", errors: [{ pointer: "/returnUrl" }] });
  });

  it.each(["http://127.0.0.1:3000/back", "http://localhost/back", "http://[::1]:3000/back"])(
    "accepts %s, for a shop on this machine",
    async (here) => {
      const { url } = await waiting({ returnUrl: here });
      expect((await fetch(url)).status).toBe(200);
    },
  );
});

describe("the page of the simulated gateway", () => {
  it("asks the customer, with a form that works without scripts, and loads nothing", async () => {
    const { url, id } = await waiting({ reference: "order-7" });
    const page = await fetch(url);
    const html = await page.text();
    expect(page.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(page.headers.get("content-security-policy")).toBe(
      "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self' https://shop.example",
    );
    expect(page.headers.get("referrer-policy")).toBe("same-origin");
    expect(page.headers.get("cache-control")).toBe("no-store");
    expect(html).toContain("default wants to reserve 12.50 EUR (order-7).");
    expect(html).toMatch(/value="confirm">Confirm<.*value="decline">Decline</s);
    expect(html).not.toMatch(/<script|<style|\son\w+=| style=/);
    expect(await statusOf(id)).toBe("requires_action");
  });

  it("leads back to the shop when the customer has confirmed, with the payment authorized by then", async () => {
    const one = await waiting();
    const answer = await submit(one, { secret: one.secret, decision: "confirm" });
    expect(answer).toMatchObject({ status: 303, location: returnUrl });
    expect(await statusOf(one.id)).toBe("authorized");
    expect((await http.capture(one.id, "c")).status).toBe(201);
    const { data } = (await http.get(`/payments/${one.id}/events`)).body as { data: { type: string }[] };
    expect(data.find(({ type }) => type === "payment.authorized")).toMatchObject({
      data: { by: { customer: true } },
    });
  });

  it("leads back to the shop when the customer has declined, with the payment declined by then", async () => {
    const one = await waiting();
    expect(await submit(one, { secret: one.secret, decision: "decline" })).toMatchObject({ status: 303 });
    expect(await statusOf(one.id)).toBe("declined");
  });

  it("counts the first decision, however often the buttons are pressed", async () => {
    const one = await waiting();
    await submit(one, { secret: one.secret, decision: "confirm" });
    const again = await submit(one, { secret: one.secret, decision: "decline" });
    expect(again).toMatchObject({ status: 303, location: returnUrl });
    expect(await statusOf(one.id)).toBe("authorized");
    expect(await (await fetch(one.url)).text()).toContain("You have confirmed this payment.");
  });

  it("reserves nothing after the payment was voided, and says so", async () => {
    const one = await waiting();
    await http.call("POST", `/payments/${one.id}/void`, { body: {}, headers: { "idempotency-key": "v" } });
    expect(await submit(one, { secret: one.secret, decision: "confirm" })).toMatchObject({ status: 303 });
    expect(await statusOf(one.id)).toBe("voided");
    expect(await (await fetch(one.url)).text()).toContain("This payment is over");
  });

  it("shows markup in names as text", async () => {
    const { url } = await waiting({
      reference: `<img src=x onerror="alert('1')">&`,
      returnUrl: `https://shop.example/"><script>alert(1)</script>`,
    });
    const html = await (await fetch(url)).text();
    expect(html).toContain("(&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;)");
    expect(html).not.toMatch(/<img|<script/);
  });

  it("keeps the secret of its address out of the log", async () => {
    const one = await waiting();
    await fetch(one.url);
    await submit(one, { secret: one.secret, decision: "confirm" });
    expect(http.logLines.join("\n")).not.toContain(one.secret);
  });
});

it("the page's policy names no host that says more than a host, even if it was stored once", () => {
  const policy = new Map<string, unknown>();
  const response = { setHeader: (name: string, value: unknown) => policy.set(name, value) };
  protect(response as never, { state: "waiting", returnUrl: "https://a;b.example/" });
  expect(policy.get("Content-Security-Policy")).toMatch(/form-action 'self' https:$/);
});

describe("the page, attacked", () => {
  it.each([
    ["another site, as browsers mark it", { "sec-fetch-site": "cross-site" }],
    ["another port of this machine", { origin: "http://127.0.0.1:1" }],
    ["another site, by its origin", { origin: "https://evil.example", "sec-fetch-site": "same-origin" }],
    ["a frame without an origin", { origin: "null" }],
  ])("refuses a form of %s, even with the right secret", async (_who, headers) => {
    const one = await waiting();
    const answer = await submit(one, { secret: one.secret, decision: "confirm" }, headers);
    expect(answer).toMatchObject({ status: 403, code: "form_of_another_site", location: null });
    expect(await statusOf(one.id)).toBe("requires_action");
  });

  it.each([
    ["a wrong one", "A".repeat(22)],
    ["a part of it", null],
  ])("refuses a form whose secret is %s", async (_what, forged) => {
    const one = await waiting();
    const secret = forged ?? one.secret.slice(0, -1);
    const answer = await submit(one, { secret, decision: "confirm" });
    expect(answer).toMatchObject({ status: 404, code: "payment_not_found" });
    expect(await statusOf(one.id)).toBe("requires_action");
  });

  it("gives the secret of one payment no right to another one", async () => {
    const [one, other] = [await waiting(), await waiting()];
    const answer = await submit(other, { secret: one.secret, decision: "confirm" });
    expect(answer).toMatchObject({ status: 404, code: "payment_not_found" });
    expect((await fetch(`${other.url.origin}${other.url.pathname}?secret=${one.secret}`)).status).toBe(404);
    expect(await statusOf(other.id)).toBe("requires_action");
  });

  it("does not exist for a payment that nobody has to confirm, whatever secret is tried", async () => {
    const id = await http.authorize();
    expect((await http.get(`/simulated-gateway/payments/${id}?secret=x`)).status).toBe(404);
    expect((await http.get(`/simulated-gateway/payments/${id}?secret=`)).status).toBe(400);
    expect((await http.get(`/simulated-gateway/payments/${id}`)).status).toBe(400);
  });

  it("changes nothing by GET, whatever is in the address", async () => {
    const one = await waiting();
    await fetch(`${one.url.href}&decision=confirm`);
    expect(await statusOf(one.id)).toBe("requires_action");
  });

  it("does not redirect to what a form names", async () => {
    const one = await waiting();
    const form = { secret: one.secret, decision: "confirm", returnUrl: "https://evil.example/" };
    expect(await submit(one, form)).toMatchObject({ status: 400, code: "invalid_request" });
  });

  it("refuses a form that is none, or that is too large", async () => {
    const one = await waiting();
    const path = `${one.url.pathname}`;
    const json = await http.call("POST", path, { body: { secret: one.secret, decision: "confirm" } });
    expect(json).toMatchObject({ status: 415, body: { code: "unsupported_media_type" } });
    const large = await submit(one, { secret: one.secret, decision: "confirm", more: "x".repeat(5_000) });
    expect(large).toMatchObject({ status: 413, code: "body_too_large" });
    expect(await statusOf(one.id)).toBe("requires_action");
  });
});

describe("what keeps the page from a browser", () => {
  const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
  const open = async (address: string) => {
    const answer = await fetch(address, { headers: { accept: BROWSER } });
    return { answer, html: await answer.text() };
  };

  it.each([
    ["with a wrong secret", 404, ({ url }: Waiting) => `${url.origin}${url.pathname}?secret=wrong`],
    ["without its secret", 400, ({ url }: Waiting) => `${url.origin}${url.pathname}`],
    ["of no payment", 400, ({ url }: Waiting) => `${url.origin}/simulated-gateway/payments/x?secret=y`],
  ])("is a page that says so, for an address %s", async (_what, status, addressOf) => {
    const { answer, html } = await open(addressOf(await waiting()));
    expect(answer.status).toBe(status);
    expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(html).toContain("This address leads to no payment.");
    expect(html).toContain("<title>Simulated gateway</title>");
    expect(html).toContain(answer.headers.get("x-request-id"));
    expect(html).not.toContain("default wants");
  });

  it("is a page for a form, too, with what to do where that is not the customer's fault", async () => {
    const { url, secret } = await waiting();
    const answer = await fetch(`${url.origin}${url.pathname}`, {
      method: "POST",
      headers: { accept: BROWSER, origin: "https://evil.example" },
      body: new URLSearchParams({ secret, decision: "confirm" }),
    });
    expect(answer.status).toBe(403);
    expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(await answer.text()).toContain("--advertise");
  });

  it("is a problem as anywhere else for whoever does not ask for HTML, and for other routes", async () => {
    const { url, id } = await waiting();
    for (const accept of ["*/*", "application/json", "application/problem+json, text/html;q=0.5"]) {
      const answer = await fetch(`${url.origin}${url.pathname}?secret=wrong`, { headers: { accept } });
      expect(answer.headers.get("content-type")).toBe("application/problem+json; charset=utf-8");
      expect(await answer.json()).toMatchObject({ code: "payment_not_found" });
    }
    const elsewhere = await http.get(`/payments/${id.replace(/.$/, "x")}`, { accept: BROWSER });
    expect(elsewhere.headers.get("content-type")).toBe("application/problem+json; charset=utf-8");
  });
});

describe("the page behind a proxy that sends a Host of its own", () => {
  const advertised = "https://pay.example.com";
  let behind: HttpWorld;
  beforeEach(async () => {
    behind = await new HttpWorld({ app: { ownUrl: () => `${advertised}/base` } }).open();
  });
  afterEach(() => behind.close());

  async function submitFrom(origin: string) {
    const { body } = await behind.call("POST", "/payments", {
      body: order,
      headers: { "idempotency-key": "proxied" },
    });
    const { pathname, searchParams } = new URL(body.payment.nextAction.url as string);
    return submit(
      { url: new URL(`${behind.url}${pathname.replace("/base", "")}`) },
      { secret: searchParams.get("secret") ?? "", decision: "confirm" },
      { origin },
    );
  }

  it("takes the form that comes from the address that the server advertises", async () => {
    expect(await submitFrom(advertised)).toMatchObject({ status: 303, location: returnUrl });
  });

  it.each(["http://pay.example.com", "https://pay.example.com:8443", "https://evil.example", "null"])(
    "refuses a form that comes from %s, and says what to set",
    async (origin) => {
      expect(await submitFrom(origin)).toMatchObject({
        status: 403,
        code: "form_of_another_site",
        detail: expect.stringContaining("--advertise"),
      });
    },
  );
});

it("where the server can be reached from outside, the token is refused with a reason, and there is no page", async () => {
  const gateway = new SimulatedGateway({
    ledger: new InMemoryGatewayLedger(),
    clock: http.world.clock,
    hasCustomerPages: false,
  });
  http.world.gateway.next("authorize", () =>
    gateway.authorize({
      gatewayKey: "k",
      operationId: "o",
      paymentId: "p",
      amount: { amount: 1_250n, currency: "EUR" as never, exponent: 2 },
      paymentMethod: "tok_requires_action",
      returnUrl,
      timeoutMs: 1_000,
    }),
  );
  const { status, body } = await pay();
  expect(status).toBe(402);
  expect(body.detail).toContain("customer_page_on_loopback_only");
});

it("a server without such pages has no such routes", async () => {
  const outside = await new HttpWorld({ app: { customerPages: undefined } }).open();
  try {
    const id = await outside.authorize();
    const { status, body } = await outside.get(`/simulated-gateway/payments/${id}?secret=x`);
    expect({ status, code: body.code }).toEqual({ status: 404, code: "route_not_found" });
  } finally {
    await outside.close();
  }
});
