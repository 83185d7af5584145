import { ConsoleWorld, type ConsoleBrowser } from "../../support/console/console-world";

/** Markup, script, attributes, bidi, template syntax, and what breaks out of each. */
const hostile: readonly string[] = [
  "<script>alert(1)</script>",
  "</script><script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "<svg onload=alert(1)>",
  "<svg><script>alert(1)</script></svg>",
  "<iframe src=javascript:alert(1)>",
  '<a href="javascript:alert(1)">x</a>',
  "<style>body{display:none}</style>",
  "<link rel=stylesheet href=//evil>",
  "<meta http-equiv=refresh content=0>",
  "<base href=//evil>",
  "<form action=//evil><input name=token>",
  "<!-- comment",
  "--> x",
  "<![CDATA[ x ]]>",
  '<?xml version="1.0"?>',
  "</bdi></main></body>",
  "</textarea><script>x</script>",
  "</title><script>x</script>",
  '" onmouseover="alert(1)',
  "' onmouseover='alert(1)",
  '"><script>alert(1)</script>',
  "'><script>alert(1)</script>",
  "` onerror=alert(1) `",
  "javascript:alert(1)",
  "data:text/html,<script>alert(1)</script>",
  "&lt;script&gt;",
  "&#60;script&#62;",
  "&amp;lt;",
  "%3Cscript%3E",
  "\\u003cscript\\u003e",
  "{{constructor.constructor('alert(1)')()}}",
  "${alert(1)}",
  "<%= alert(1) %>",
  "#{7*7}",
  '{"constructor":null,"type":"script"}',
  "constructor",
  "\u202egnp.exe",
  "\u2066\u2067a\u2069",
  "\u200f\u061c<b>",
  "\ufeff<script>",
  "'; DROP TABLE payments; --",
];

let world: ConsoleWorld;
let browser: ConsoleBrowser;
beforeAll(async () => {
  world = new ConsoleWorld();
  await world.http.open();
  browser = world.browser();
});
afterAll(() => world.http.close());

const asText = (text: string) =>
  `<bdi>${text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;")}</bdi>`;

test("there are forty hostile texts at least", () => {
  expect(new Set(hostile).size).toBeGreaterThanOrEqual(40);
});

test.each(hostile.map((text) => [JSON.stringify(text), text]))(
  "%s stays text wherever it is stored and shown",
  async (_, text) => {
    // A payment method that the gateway does not know is kept, too, with a declined payment.
    const { body } = await world.http.call("POST", "/payments", {
      headers: { "idempotency-key": `hostile-${hostile.indexOf(text)}` },
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
    const inField = `value="${`${text} x`.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;")}"`;
    expect(sent).toContain(inField);
    for (const one of [page, list.text, sent]) {
      expect(one.match(/<script/g) ?? []).toHaveLength(list.status === 303 && one === list.text ? 0 : 1);
      expect(one).not.toMatch(/<(?:img|iframe|style|base|b)\b/);
    }
  },
);

test("hostile evidence, and the hostile name of a key, stay text", async () => {
  for (const [n, text] of hostile.entries()) {
    if (n % 4 !== 0) continue;
    const payment = await world.http.authorize({ paymentMethod: "tok_void_captured_elsewhere" });
    const { body } = await world.http.call("POST", `/payments/${payment}/void`, {
      headers: { "idempotency-key": `void-${n}` },
      body: {},
    });
    const path = `/console/reviews/${body.void.id as string}`;
    const refused = await browser.submit(path, path, { outcome: "moved", evidence: text });
    expect(refused.status).toBe(409);
    const inArea = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
    expect(refused.text).toContain(`>${inArea}</textarea>`);
    const overridden = { outcome: "not_moved", evidence: text, overrideReason: text };
    expect((await browser.submit(path, path, overridden)).status).toBe(303);
    const shown = (await browser.get(`/console/payments/${payment}`)).text;
    expect(shown).toContain(asText(`Evidence: ${text.trim()}`));
    expect(shown.match(/<script/g)).toHaveLength(1);
  }
});
