import { join } from "node:path";
import { ConsoleServer } from "../../support/console/console-server";
import { sample } from "../../support/test-size";
import { asText, asValue, hostileTexts, intruders } from "../../support/console/hostile-texts";

jest.setTimeout(240_000);

let server: ConsoleServer;
beforeAll(async () => {
  const gateway = join(__dirname, "../../support/console/echoing-gateway.mjs");
  server = await ConsoleServer.open(["--gateway", `module:${gateway}`]);
});
afterAll(() => server.close());

const shown = async (path: string): Promise<string> => {
  const { status, text } = await server.operator.browser.get(path);
  expect([path, status]).toEqual([path, 200]);
  expect([path, intruders(text)]).toEqual([path, []]);
  return text;
};

test("whatever a gateway says stays text: its references, its refusals, and its evidence", async () => {
  const { acme } = server;
  const wanted = { amount: 100, currency: "EUR" };
  for (const text of hostileTexts) {
    const { payment } = await server.call(acme, "POST", "/payments", { ...wanted, paymentMethod: text });
    const { capture } = await server.call(acme, "POST", `/payments/${payment.id as string}/capture`, {});
    const page = await shown(`/console/payments/${payment.id as string}`);
    // Paid with, the gateway's name for it, and what it said of the capture.
    expect([text, page.split(asText(text)).length - 1 >= 2]).toEqual([text, true]);
    const review = await shown(`/console/reviews/${capture.id as string}`);
    expect([text, review.includes(asText(text))]).toEqual([text, true]);
  }
  const first = await shown("/console/reviews");
  const next = /rel="next" href="([^"]+)"/.exec(first)![1]!.replaceAll("&amp;", "&");
  const reviews = first + (await shown(next));
  for (const text of hostileTexts)
    expect([text, reviews.includes(asValue(text.trim()))]).toEqual([text, true]);
  await shown("/console");
});

test("the reason of a refusal stays text", async () => {
  for (const [n, text] of sample(hostileTexts, 3).entries()) {
    const answer = await fetch(`${server.url}/payments`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${server.acme.secret}`,
        "idempotency-key": `declined-${n}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({ amount: 100, currency: "EUR", paymentMethod: `declined:${text}` }),
    });
    const { paymentId } = (await answer.json()) as { paymentId: string };
    expect([text, (await shown(`/console/payments/${paymentId}`)).includes(asText(text.trim()))]).toEqual([
      text,
      true,
    ]);
  }
});

test("a hostile idempotency key stays text, also on the page that asks once more", async () => {
  // Of the others it is said that they are none; quotes around a key are the header's own.
  const keys = hostileTexts.filter((text) => /^[!#-~][!-~]*$/.test(text));
  expect(keys.length).toBeGreaterThan(12);
  for (const key of keys) {
    const body = { amount: 100, currency: "EUR", paymentMethod: `of the key ${key}` };
    const { payment } = await server.call(server.acme, "POST", "/payments", body, key);
    const path = `/console/payments/${payment.id as string}`;
    expect([key, (await shown(path)).includes(asText(key))]).toEqual([key, true]);
    const asked = await shown(`${path}/capture?amount=1.00&key=${encodeURIComponent(key)}`);
    expect([key, asked.includes(`name="key" value="${asValue(key)}"`)]).toEqual([key, true]);
  }
});

test("the name of a key stays text", async () => {
  const { browser } = server.operator;
  for (const name of hostileTexts)
    expect((await browser.submit("/console/keys", "/console/keys", { merchant: "acme", name })).status).toBe(
      200,
    );
  const pages = [0, 15, 30].map((first) => shown(`/console/keys?cursor=${first}`));
  const page = (await Promise.all(pages)).join();
  for (const name of hostileTexts) expect([name, page.includes(asText(name.trim()))]).toEqual([name, true]);
});

test("the description of an endpoint, its address, and what its receiver answers stay text", async () => {
  const { acme, receiver } = server;
  let answered = 0;
  receiver.answer = (_, response) => void response.writeHead(200).end(hostileTexts[answered++]);
  const { endpoint } = await server.endpoint(acme);
  const at = `/webhook-endpoints/${endpoint}`;
  for (const description of hostileTexts) {
    const url = `${receiver.url}/?${encodeURIComponent(description)}='"`;
    await server.call(acme, "PATCH", at, { description, url });
    expect((await shown(`/console/webhooks/${endpoint}`)).includes(asText(description))).toBe(true);
    await server.call(acme, "POST", `${at}/test`, {});
  }
  for (let tries = 0; answered < hostileTexts.length && tries < 500; tries += 1)
    await new Promise((resolve) => setTimeout(resolve, 20));
  // The last answers are written down after they were heard.
  let pages = "";
  for (let tries = 0; tries < 100; tries += 1) {
    pages = "";
    let path: string | undefined = `/console/webhooks/${endpoint}`;
    while (path !== undefined) {
      const page: string = await shown(path);
      pages += page;
      path = /rel="next" href="([^"]+)"/.exec(page)?.[1]?.replaceAll("&amp;", "&");
    }
    if (hostileTexts.every((text) => pages.includes(asText(text)))) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  for (const text of hostileTexts) expect([text, pages.includes(asText(text))]).toEqual([text, true]);
  await shown("/console/webhooks");
});

test("what was asked for is told as text where there is nothing: paths, ids and fields", async () => {
  const { browser } = server.operator;
  const places = [
    "/",
    "/payments/",
    "/reviews/",
    "/webhooks/",
    "/sandboxes/",
    "/payments?from=",
    "/payments?merchant=",
    "/payments?status=",
    "/payments?cursor=",
    "/webhooks?cursor=",
    "?done=",
  ];
  for (const [n, place] of places.entries()) {
    for (const text of sample(hostileTexts, 3, n)) {
      const path = `/console${place}${encodeURIComponent(text)}`;
      const { status, text: page, headers } = await browser.get(path);
      expect([path, status < 500, intruders(page)]).toEqual([path, true, []]);
      expect(headers.get("location") ?? "/console").toMatch(/^\/console/);
    }
  }
});

test("no id and no field adds a header, or leads out of the console", async () => {
  const { browser } = server.operator;
  const breaks = "%0d%0aSet-Cookie:%20evil=1%0d%0aLocation:%20https://evil.example";
  for (const path of [
    `/console/payments/x${breaks}`,
    `/console/payments/x/capture?amount=1${breaks}`,
    `/console/payments?q=x${breaks}`,
    `/console/sign-in?next=/console/${breaks}`,
    `/console/sign-in?next=/console/..//evil.example`,
    `/console/sign-in?next=/console/%252e%252e//evil.example`,
    `/console/sign-in?next=//evil.example`,
    `/console/sign-in?next=/\\evil.example`,
    `/console//evil.example`,
    `//evil.example/console`,
  ]) {
    const { headers } = await browser.get(path);
    expect([path, headers.getSetCookie().some((cookie) => cookie.startsWith("evil"))]).toEqual([path, false]);
    const to = new URL(headers.get("location") ?? "/console", server.url);
    expect([path, to.origin, to.pathname.startsWith("/console")]).toEqual([path, server.url, true]);
  }
});
