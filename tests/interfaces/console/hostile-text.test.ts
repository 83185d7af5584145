import { asText, asValue, hostileTexts, intruders } from "../../support/console/hostile-texts";
import { sample } from "../../support/test-size";
import { ConsoleWorld, type ConsoleBrowser } from "../../support/console/console-world";

let world: ConsoleWorld;
let browser: ConsoleBrowser;
beforeAll(async () => {
  world = new ConsoleWorld();
  await world.http.open();
  browser = world.browser();
});
afterAll(() => world.http.close());

test("there are forty hostile texts at least", () => {
  expect(new Set(hostileTexts).size).toBeGreaterThanOrEqual(40);
});

test.each(hostileTexts.map((text) => [JSON.stringify(text), text]))(
  "%s stays text wherever it is stored and shown",
  async (_, text) => {
    // A payment method that the gateway does not know is kept, too, with a declined payment.
    const { body } = await world.http.call("POST", "/payments", {
      headers: { "idempotency-key": `hostile-${hostileTexts.indexOf(text)}` },
      body: {
        amount: 100,
        currency: "EUR",
        paymentMethod: text,
        reference: text,
        metadata: { [text]: text },
      },
    });
    const id = body.paymentId as string;
    const page = (await browser.get(`/console/payments/${id}`)).text;
    // Reference, metadata by name and value, payment method, each apart from the text around it.
    expect(page.split(asText(text)).length - 1).toBeGreaterThanOrEqual(4);
    const list = await browser.get(`/console/payments?q=${encodeURIComponent(text)}&status=declined`);
    if (list.status === 200) expect(list.text).toContain(asText(text));
    // What was looked for stands in the field that it was written into, and cannot leave it.
    const sent = (await browser.get(`/console/payments?q=${encodeURIComponent(`${text} `)}x`)).text;
    const inField = `value="${asValue(`${text} x`)}"`;
    expect(sent).toContain(inField);
    for (const one of [page, list.text, sent]) expect(intruders(one)).toEqual([]);
  },
);

test("hostile evidence, and the reason of a verdict against the gateway, stay text in the form, in the story and in the audit", async () => {
  for (const [n, text] of sample(hostileTexts, 3).entries()) {
    const payment = await world.http.authorize({ paymentMethod: "tok_void_captured_elsewhere" });
    const { body } = await world.http.call("POST", `/payments/${payment}/void`, {
      headers: { "idempotency-key": `void-${n}` },
      body: {},
    });
    const path = `/console/reviews/${body.void.id as string}`;
    const refused = await browser.submit(path, path, { outcome: "moved", evidence: text });
    expect(refused.status).toBe(409);
    expect(refused.text).toContain(`>${asValue(text)}</textarea>`);
    const overridden = { outcome: "not_moved", evidence: text, overrideReason: text };
    expect((await browser.submit(path, path, overridden)).status).toBe(303);
    const shown = (await browser.get(`/console/payments/${payment}`)).text;
    expect(shown).toContain(asText(`Evidence: ${text.trim()}`));
    const audit = (await browser.get("/console/audit?kind=review.overridden")).text;
    expect(audit).toContain(asText(text.trim()));
    expect([refused.text, shown, audit].flatMap(intruders)).toEqual([]);
  }
});
