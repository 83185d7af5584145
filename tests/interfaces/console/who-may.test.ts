import { anAct } from "../../support/an-act";
import { request } from "node:http";
import { ConsoleWorld, type ConsoleBrowser } from "../../support/console/console-world";

const HOUR_MS = 3_600_000;

let world: ConsoleWorld;
beforeEach(async () => {
  world = new ConsoleWorld();
  await world.http.open();
});
afterEach(() => world.http.close());

const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });

/** Two merchants with a payment each, and an operator. */
async function three() {
  const [acme, other, operator] = [
    await world.key("acme"),
    await world.key("other"),
    await world.key("root", true),
  ] as const;
  return {
    acme: await world.signedIn(acme),
    operator: await world.signedIn(operator),
    ofAcme: await world.http.authorize({}, bearer(acme)),
    ofOther: await world.http.authorize({}, bearer(other)),
    secretOfAcme: acme,
  };
}

test("without keys nobody signs in on this machine, and no other name leads to it", async () => {
  const browser = world.browser();
  expect((await browser.get("/console")).status).toBe(200);
  const status = await new Promise((resolve) =>
    request(`${world.http.url}/console`, { headers: { host: "evil.example" } }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    }).end(),
  );
  expect(status).toBe(403);
});

test("with keys, a page asks for one and leads on to what was wanted; the key itself is not kept", async () => {
  const secret = await world.key("acme");
  const browser = world.browser();
  const asked = await browser.get("/console/payments?status=captured");
  expect([asked.status, asked.headers.get("location")]).toEqual([
    303,
    "/console/sign-in?next=%2Fconsole%2Fpayments%3Fstatus%3Dcaptured",
  ]);
  const wrong = await browser.submit("/console/sign-in", "/console/sign-in", { key: "hf_wrong" });
  expect([wrong.status, wrong.text.includes("not a valid API key")]).toEqual([401, true]);
  const signedIn = await browser.submit(asked.headers.get("location")!, "/console/sign-in", { key: secret });
  expect([signedIn.status, signedIn.headers.get("location")]).toEqual([
    303,
    "/console/payments?status=captured",
  ]);
  const cookie = signedIn.headers.getSetCookie().join();
  expect(cookie).toMatch(/HttpOnly; SameSite=Strict$/);
  expect(cookie).toContain("Max-Age=28800");
  expect(cookie).not.toContain(secret);
  expect((await browser.get("/console/payments")).status).toBe(200);
});

test("nobody is led out of the console after signing in", async () => {
  const secret = await world.key("acme");
  for (const next of [
    "https://evil.example",
    "//evil.example",
    "/console//../../x y",
    "/payments",
    "/console/..//evil.example",
    "/console/%2e%2e/x",
  ]) {
    const browser = world.browser();
    const answer = await browser.submit("/console/sign-in", "/console/sign-in", { key: secret, next });
    expect([next, answer.headers.get("location")]).toEqual([next, "/console"]);
  }
});

test("a session ends after eight hours, when it is signed out of, and when its key is revoked", async () => {
  const secret = await world.key("acme");
  const isIn = async (browser: ConsoleBrowser) => (await browser.get("/console")).status === 200;
  const [late, out, revoked] = [
    await world.signedIn(secret),
    await world.signedIn(secret),
    await world.signedIn(secret),
  ] as const;
  const stolen = new Map(out.cookies);
  await out.submit("/console", "/console/sign-out");
  for (const [name, value] of stolen) out.cookies.set(name, value);
  expect([await isIn(late), await isIn(out)]).toEqual([true, false]);
  world.nowMs += 8 * HOUR_MS;
  expect(await isIn(late)).toBe(false);
  world.nowMs -= HOUR_MS;
  expect(await isIn(revoked)).toBe(true);
  const { id } = (await world.keys.list())[0]!;
  await world.keys.revoke(id, anAct);
  expect(await isIn(revoked)).toBe(false);
});

test("a merchant sees its own payments alone, and no operator's page; an operator sees all", async () => {
  const { acme, operator, ofAcme, ofOther } = await three();
  const list = (await acme.get("/console/payments?merchant=other")).text;
  expect([list.includes(ofAcme), list.includes(ofOther)]).toEqual([true, false]);
  expect((await acme.get(`/console/payments/${ofOther}`)).status).toBe(404);
  expect((await acme.follow(`/console/payments?q=${ofOther}`)).text).not.toContain("What happened");
  for (const path of [
    "/console/reviews",
    "/console/locks",
    "/console/keys",
    "/console/audit",
    `/console/payments/${ofAcme}/observe`,
  ])
    expect([path, (await acme.get(path)).status]).toEqual([path, 403]);
  const all = (await operator.get("/console/payments")).text;
  expect([all.includes(ofAcme), all.includes(ofOther)]).toEqual([true, true]);
});

test("an operator acts for a payment's merchant, and its history says that it was an operator", async () => {
  const { operator, acme, ofAcme } = await three();
  const path = `/console/payments/${ofAcme}`;
  await operator.submit(`${path}/capture`, `${path}/capture`);
  expect(await world.http.timesCaptured(ofAcme)).toBe(1);
  expect((await operator.get(path)).text).toContain("(operator)");
  // The merchant learns that it was one, and not whose key it was.
  const shown = (await acme.get(path)).text;
  expect(shown).toContain("asked by an operator");
  expect(shown).not.toContain("(operator)");
});

describe("a form changes nothing", () => {
  const cases: readonly (readonly [
    string,
    (form: Record<string, string>) => Record<string, string>,
    Record<string, string>,
  ])[] = [
    ["without a token", ({ token: _, ...rest }) => rest, {}],
    ["with another token", (form) => ({ ...form, token: [...form["token"]!].reverse().join("") }), {}],
    ["with half a token", (form) => ({ ...form, token: form["token"]!.slice(0, 20) }), {}],
    ["from another site", (form) => form, { "sec-fetch-site": "cross-site" }],
    ["from a sibling's site", (form) => form, { "sec-fetch-site": "same-site" }],
    ["from another origin", (form) => form, { origin: "https://evil.example" }],
    ["from nowhere (a sandboxed frame)", (form) => form, { origin: "null" }],
    ["in another content type", (form) => form, { "content-type": "text/plain" }],
  ];
  test.each(cases)("%s", async (_, changed, headers) => {
    const { acme, ofAcme } = await three();
    const path = `/console/payments/${ofAcme}/capture`;
    const form = await acme.form(path, path);
    const refused = await acme.post(path, changed(form), headers);
    expect(refused.status).toBeGreaterThanOrEqual(400);
    expect(await world.http.timesCaptured(ofAcme)).toBe(0);
    // As it was, it is taken.
    expect((await acme.post(path, form)).status).toBe(303);
    expect(await world.http.timesCaptured(ofAcme)).toBe(1);
  });

  test("with the id of another merchant's payment, and with another browser's token", async () => {
    const { acme, operator, ofAcme, ofOther, secretOfAcme } = await three();
    const path = (id: string) => `/console/payments/${id}/capture`;
    const form = await acme.form(path(ofAcme), path(ofAcme));
    expect((await acme.post(path(ofOther), form)).status).toBe(404);
    const theirs = await operator.form(path(ofOther), path(ofOther));
    expect((await acme.post(path(ofAcme), theirs)).status).toBe(403);
    const again = await world.signedIn(secretOfAcme);
    expect((await again.post(path(ofAcme), form)).status).toBe(403);
    expect((await world.browser().post(path(ofAcme), form)).status).toBe(403);
    expect(await world.http.timesCaptured(ofAcme)).toBe(0);
    expect(await world.http.timesCaptured(ofOther)).toBe(0);
  });
});

test("a link from another site is answered with a page that leads on by itself, and sets no cookie", async () => {
  const { acme } = await three();
  const hop = await acme.get("/console/payments", { "sec-fetch-site": "cross-site" });
  expect(hop.headers.getSetCookie()).toEqual([]);
  expect(hop.text).toContain(`http-equiv="refresh" content="0; url=/console/payments"`);
});
