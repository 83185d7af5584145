import { ConsoleServer } from "../../../support/console/console-server";

jest.setTimeout(120_000);

let server: ConsoleServer;
beforeAll(async () => {
  server = await ConsoleServer.open();
});
afterAll(() => server.close());

const secretIn = (text: string) => /<code class="secret">([^<]+)</.exec(text)?.[1];
const keysMade = async () =>
  (await server.operator.browser.get("/console/keys")).text.match(/\/console\/keys\/[\w-]+\/revoke/g)!.length;

test.each([
  ["another merchant", { merchant: "other" }],
  ["another name", { name: "the second" }],
  ["an operator's right", { operator: "on" }],
] as const)("the form of a key that was made is refused with %s, and shows no secret", async (_, changed) => {
  const { browser } = server.operator;
  const form = {
    ...(await browser.form("/console/keys", "/console/keys")),
    merchant: "acme",
    name: "the till",
  };
  const first = await browser.post("/console/keys", form);
  const made = await keysMade();
  const other = await browser.post("/console/keys", { ...form, ...changed });
  expect([other.status, other.text.includes("idempotency_key_reused")]).toEqual([422, true]);
  expect(secretIn(other.text)).toBeUndefined();
  expect(other.text).not.toContain(secretIn(first.text));
  // Unchanged, and however its fields are ordered, it shows what it came to.
  const { name, ...rest } = form;
  const again = await browser.post("/console/keys", { name, ...rest });
  expect([again.status, secretIn(again.text)]).toEqual([200, secretIn(first.text)]);
  expect(await keysMade()).toBe(made);
});

test("of two contents that are sent at once by one form, one is done and the other is refused", async () => {
  const { browser } = server.operator;
  const form = await browser.form("/console/keys", "/console/keys");
  const before = await keysMade();
  const answers = await Promise.all(
    ["acme", "other"].map((merchant) => browser.post("/console/keys", { ...form, merchant })),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 422]);
  expect(await keysMade()).toBe(before + 1);
});

test("a form that was refused can be mended and sent again", async () => {
  const { browser } = server.operator;
  const form = await browser.form("/console/keys", "/console/keys");
  expect((await browser.post("/console/keys", { ...form, merchant: "no one!" })).status).toBe(400);
  expect((await browser.post("/console/keys", { ...form, merchant: "acme" })).status).toBe(200);
});

test("a replay, a clock's move and a redelivery are not taken for another one that was sent before", async () => {
  const { acme } = server;
  const { endpoint, delivery } = await server.endpoint(acme);
  const { sandbox, snapshot } = await server.sandbox(acme);
  const webhook = `/console/webhooks/${endpoint}`;
  const world = `/console/sandboxes/${sandbox}`;
  const cases: readonly (readonly [string, string, Record<string, string>, Record<string, string>])[] = [
    [
      webhook,
      `${webhook}/replay`,
      { from: "2026-01-01T00:00:00", to: "2026-01-02T00:00:00" },
      { to: "2026-01-03T00:00:00" },
    ],
    [webhook, `${webhook}/redeliver`, { delivery }, { delivery: "0190a6b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b" }],
    [world, `${world}/clock`, { hours: "24" }, { hours: "48" }],
    [world, `${world}/start`, { snapshot }, { snapshot: "another" }],
  ];
  for (const [page, action, fields, changed] of cases) {
    const form = { ...(await acme.browser.form(page, action)), ...fields };
    const { status, headers } = await acme.browser.post(action, form);
    expect([action, status]).toEqual([action, 303]);
    expect([action, (await acme.browser.post(action, { ...form, ...changed })).status]).toEqual([
      action,
      422,
    ]);
    const again = await acme.browser.post(action, form);
    expect([again.status, again.headers.get("location")]).toEqual([303, headers.get("location")]);
  }
});

test("a secret that was rotated is shown again to the same form alone", async () => {
  const { acme } = server;
  const { endpoint } = await server.endpoint(acme);
  const page = `/console/webhooks/${endpoint}`;
  const form = await acme.browser.form(page, `${page}/rotate`);
  const first = secretIn((await acme.browser.post(`${page}/rotate`, form)).text);
  expect(first).toMatch(/^whsec_/);
  expect(secretIn((await acme.browser.post(`${page}/rotate`, form)).text)).toBe(first);
  const other = await acme.browser.post(`${page}/rotate`, { ...form, more: "of it" });
  expect([other.status, secretIn(other.text)]).toEqual([422, undefined]);
});

test("what a form was sent to belongs to its content: elsewhere it is refused, and nothing is done there", async () => {
  const { browser } = server.operator;
  const form = { ...(await browser.form("/console/keys", "/console/keys")), merchant: "acme" };
  expect((await browser.post("/console/keys", form)).status).toBe(200);
  const before = await keysMade();
  const { text } = await browser.get("/console/keys");
  const revoke = /action="(\/console\/keys\/[\w-]+\/revoke)"/.exec(text)![1]!;
  expect((await browser.post(revoke, form)).status).toBe(422);
  expect(await keysMade()).toBe(before);
});
