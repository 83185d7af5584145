import { join } from "node:path";
import { ConsoleServer } from "../../support/console/console-server";
import { testAtFullSize } from "../../support/servers/servers";

jest.setTimeout(240_000);

const LIMIT_BYTES = 50_000;
const LONG = "x".repeat(255);
/** Each of its characters takes five in a page. */
const ESCAPED = "&".repeat(255);

let server: ConsoleServer;
beforeAll(async () => {
  const gateway = join(__dirname, "../../support/console/echoing-gateway.mjs");
  server = await ConsoleServer.open(["--gateway", `module:${gateway}`]);
});
afterAll(() => server.close());

async function expectSmall(path: string): Promise<void> {
  const { status, text } = await server.operator.browser.get(path);
  expect([path, status]).toEqual([path, 200]);
  const bytes = Buffer.byteLength(text);
  expect([path, bytes <= LIMIT_BYTES ? "small" : bytes]).toEqual([path, "small"]);
}

test("a page of payments, reviews, endpoints, keys and acts is at most 50 kB, however long its texts are", async () => {
  const { acme, operator } = server;
  for (let n = 0; n < 26; n += 1) {
    const paymentMethod = `${n}${n % 2 === 0 ? LONG : ESCAPED}`.slice(0, 255);
    const wanted = { amount: 100, currency: "EUR", paymentMethod, reference: ESCAPED };
    const { payment } = await server.call(acme, "POST", "/payments", wanted);
    await server.call(acme, "POST", `/payments/${payment.id as string}/capture`, {});
    const url = `${server.receiver.url}/?${"&".repeat(1_900)}`;
    if (n < 16) await server.call(acme, "POST", "/webhook-endpoints", { url, description: LONG });
  }
  for (let n = 0; n < 62; n += 1)
    await operator.browser.submit("/console/keys", "/console/keys", {
      merchant: "m".repeat(63),
      name: "&".repeat(100),
    });
  const { data } = await server.call(operator, "GET", "/reviews?limit=100");
  for (const { operationId } of data as { operationId: string }[]) {
    const path = `/console/reviews/${operationId}`;
    const evidence = "&".repeat(2_000);
    await operator.browser.submit(path, path, { outcome: "pending", evidence });
  }
  for (const path of ["/console", "/console/payments", "/console/reviews", "/console/webhooks"])
    await expectSmall(path);
  const more = (await operator.browser.get("/console/keys")).text;
  expect(more).toContain('href="/console/keys?cursor=15"');
  await expectSmall("/console/keys?cursor=15");
  for (const path of ["/console/keys", "/console/audit", `/console/reviews/${data[0].operationId as string}`])
    await expectSmall(path);
});

test("a payment with all the metadata that it may have is a page of at most 50 kB, which says what it left out", async () => {
  const { acme, operator } = server;
  const metadata = Object.fromEntries(
    Array.from({ length: 50 }, (_, n) => [`${n}${"k".repeat(60)}`, "&".repeat(500)]),
  );
  const body = {
    amount: 100_000,
    currency: "EUR",
    paymentMethod: `${ESCAPED.slice(1)}y`,
    metadata,
    reference: ESCAPED,
  };
  const { payment } = await server.call(acme, "POST", "/payments", body);
  const path = `/console/payments/${payment.id as string}`;
  await server.call(acme, "POST", `/payments/${payment.id as string}/capture`, {});
  await expectSmall(path);
  const { text } = await operator.browser.get(path);
  expect(text).toContain("47 more: ");
  expect(text).toContain(`${"&amp;".repeat(500)}`);
});

testAtFullSize(
  "a payment with a hundred refunds, and one that was looked at a hundred times, are pages of at most 50 kB",
  async () => {
    const plain = await ConsoleServer.open();
    try {
      const refunded = await plain.captured(plain.acme);
      for (let n = 0; n < 100; n += 1)
        await plain.call(plain.acme, "POST", `/payments/${refunded}/refunds`, { amount: 1 });
      const page = (await plain.operator.browser.get(`/console/payments/${refunded}`)).text;
      expect(Buffer.byteLength(page)).toBeLessThanOrEqual(LIMIT_BYTES);
      expect(page).toMatch(/The last \d+ of 102 operations\./);

      const operation = await plain.operationInReview(plain.acme);
      const path = `/console/reviews/${operation}`;
      for (let n = 0; n < 60; n += 1)
        await plain.operator.browser.submit(path, path, {
          outcome: "pending",
          evidence: `${n} ${"&".repeat(700)}`,
        });
      const review = (await plain.operator.browser.get(path)).text;
      expect(Buffer.byteLength(review)).toBeLessThanOrEqual(LIMIT_BYTES);
      expect(review).toMatch(/\d+ events before these/);
    } finally {
      await plain.close();
    }
  },
);
