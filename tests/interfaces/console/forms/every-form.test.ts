import { allForms } from "../../../support/console/all-forms";
import { ConsoleServer, type Belongings, type SignedIn } from "../../../support/console/console-server";
import { ConsoleBrowser } from "../../../support/console/console-world";

jest.setTimeout(240_000);

interface Form {
  /** As it is mounted. */
  readonly route: string;
  /** Where it stands, and where it goes, for the belongings of a merchant. */
  readonly page: (of: Belongings) => string;
  readonly action: (of: Belongings) => string;
  /** What a person fills in, or what a button of many stands for. */
  readonly fields?: (of: Belongings) => Record<string, string>;
  /** Makes something that it can change. */
  readonly before?: () => Promise<unknown>;
  /** Whether a merchant may send it, for what is theirs. */
  readonly isOfMerchants: boolean;
  /** What has no id in its path cannot name somebody else's. */
  readonly namesNothing?: true;
  /** It changes who is there, or writes down nothing that the API tells. */
  readonly leavesNothing?: true;
}

const payment = (movement: string, id: (of: Belongings) => string): Form => ({
  route: `/payments/:paymentId/${movement}`,
  page: (of) => `/console/payments/${id(of)}/${movement}`,
  action: (of) => `/console/payments/${id(of)}/${movement}`,
  isOfMerchants: true,
});
const endpoint = (action: string, fields?: Form["fields"]): Form => ({
  route: `/webhooks/:endpointId/${action}`,
  page: (of) => `/console/webhooks/${of.endpoint}`,
  action: (of) => `/console/webhooks/${of.endpoint}/${action}`,
  isOfMerchants: true,
  ...(fields === undefined ? {} : { fields }),
});
const sandbox = (action: string, fields?: Form["fields"]): Form => ({
  route: `/sandboxes/:sandboxId/${action}`,
  page: (of) => `/console/sandboxes/${of.sandbox}`,
  action: (of) => `/console/sandboxes/${of.sandbox}/${action}`,
  isOfMerchants: true,
  ...(fields === undefined ? {} : { fields }),
});

/** In an order in which each finds what the ones before have left. */
const forms: readonly Form[] = [
  payment("capture", ({ toCapture }) => toCapture),
  payment("void", ({ toVoid }) => toVoid),
  payment("refund", ({ toRefund }) => toRefund),
  { ...payment("observe", ({ toRefund }) => toRefund), isOfMerchants: false, leavesNothing: true },
  {
    route: "/reviews/:operationId",
    page: ({ inReview }) => `/console/reviews/${inReview}`,
    action: ({ inReview }) => `/console/reviews/${inReview}`,
    fields: () => ({ outcome: "pending", evidence: "The dashboard shows it as open." }),
    isOfMerchants: false,
  },
  endpoint("test"),
  endpoint("redeliver", ({ delivery }) => ({ delivery })),
  {
    ...endpoint("replay", () => ({ from: "2026-01-01T00:00:00", to: "2099-01-01T00:00:00" })),
    // Events that there were, and that do not come any more while this is tried.
    before: () =>
      Promise.all(
        (
          [
            [server.acme, ofAcme],
            [server.other, ofOther],
          ] as const
        ).map(([who, of]) =>
          server.call(who, "PATCH", `/webhook-endpoints/${of.endpoint}`, { types: ["payment.authorized"] }),
        ),
      ),
  },
  endpoint("rotate"),
  endpoint("disable"),
  endpoint("enable"),
  {
    route: "/sandboxes",
    page: () => "/console/sandboxes",
    action: () => "/console/sandboxes",
    isOfMerchants: true,
    namesNothing: true,
  },
  sandbox("clock", () => ({ hours: "24" })),
  sandbox("checkpoint"),
  sandbox("start", ({ snapshot }) => ({ snapshot })),
  {
    route: "/keys",
    page: () => "/console/keys",
    action: () => "/console/keys",
    fields: () => ({ merchant: "acme", name: "stolen" }),
    isOfMerchants: false,
    namesNothing: true,
  },
  {
    route: "/keys/:keyId/revoke",
    page: () => "/console/keys",
    action: () => `/console/keys/${keyToRevoke}/revoke`,
    isOfMerchants: false,
  },
];

/** What happens before somebody is known, or to that alone: tested by name below. */
const ofSessions = ["/sign-in", "/sign-out"];

let server: ConsoleServer;
let ofAcme: Belongings;
let ofOther: Belongings;
let keyToRevoke = "";
const keyIds = (text: string) => [...text.matchAll(/action="\/console\/keys\/([\w-]+)\/revoke"/g)];

beforeAll(async () => {
  server = await ConsoleServer.open();
  const before = keyIds((await server.operator.browser.get("/console/keys")).text).map(([, id]) => id);
  await server.operator.browser.submit("/console/keys", "/console/keys", { merchant: "acme", name: "old" });
  const after = keyIds((await server.operator.browser.get("/console/keys")).text).map(([, id]) => id!);
  keyToRevoke = after.find((id) => !before.includes(id))!;
  ofAcme = await server.belongings(server.acme);
  ofOther = await server.belongings(server.other);
});
afterAll(() => server.close());

/** Everything that a form could change, of both merchants and of the operator. */
async function everything(): Promise<string> {
  const { acme, other, operator } = server;
  const seen: unknown[] = [
    await server.call(operator, "GET", "/audit"),
    await server.call(operator, "GET", "/reviews"),
  ];
  seen.push(keyIds((await operator.browser.get("/console/keys")).text).map(([, id]) => id));
  for (const who of [acme, other]) {
    const { data: endpoints } = await server.call(who, "GET", "/webhook-endpoints");
    const { data: sandboxes } = await server.call(who, "GET", "/sandboxes");
    seen.push(await server.call(who, "GET", "/payments"), endpoints);
    for (const { id } of endpoints as { id: string }[]) {
      const { data } = await server.call(who, "GET", `/webhook-endpoints/${id}/deliveries`);
      seen.push((data as { id: string }[]).map((delivery) => delivery.id));
    }
    for (const { id } of sandboxes as { id: string }[]) {
      const { sandbox: shown } = await server.call(who, "GET", `/sandboxes/${id}`);
      seen.push([shown.clock, shown.snapshots]);
    }
  }
  return JSON.stringify(seen);
}

/** The token of a session, from the form that every page of somebody who is signed in has. */
const tokenOf = async ({ browser }: SignedIn): Promise<string> =>
  (await browser.form("/console", "/console/sign-out"))["token"]!;

async function filledIn(form: Form, by: SignedIn, of: Belongings): Promise<Record<string, string>> {
  return { ...(await by.browser.form(form.page(of), form.action(of))), ...form.fields?.(of) };
}

test("the forms that are attacked here are all forms that the console takes", () => {
  expect([...forms.map(({ route }) => route), ...ofSessions].sort()).toEqual([...allForms()].sort());
});

test.each(forms.map((form) => [form.route, form] as const))(
  "the form to %s changes nothing unless it is this visitor's own, and then it does",
  async (_, form) => {
    const { acme, other, operator } = server;
    await form.before?.();
    const sender = form.isOfMerchants ? acme : operator;
    const action = form.action(ofAcme);
    const whole = await filledIn(form, sender, ofAcme);
    const { token, ...tokenless } = whole;
    const before = await everything();
    const refused: (readonly [string, number])[] = [];
    const tried = async (
      what: string,
      by: ConsoleBrowser,
      fields: Record<string, string>,
      headers = {},
      to = action,
    ) => refused.push([what, (await by.post(to, fields, headers)).status]);

    await tried("without a token", sender.browser, tokenless);
    await tried("with an empty token", sender.browser, { ...tokenless, token: "" });
    await tried("with half a token", sender.browser, { ...tokenless, token: token!.slice(0, 20) });
    await tried("with another session's token", sender.browser, {
      ...tokenless,
      token: await tokenOf(other),
    });
    await tried("from another site", sender.browser, whole, { "sec-fetch-site": "cross-site" });
    await tried("from a sibling's site", sender.browser, whole, { "sec-fetch-site": "same-site" });
    await tried("from another origin", sender.browser, whole, { origin: "https://evil.example" });
    await tried("from a frame without an origin", sender.browser, whole, { origin: "null" });
    await tried("as plain text", sender.browser, whole, { "content-type": "text/plain" });
    await tried("by somebody who is not signed in", new ConsoleBrowser(server.url), whole);
    const theirs = { ...whole, token: await tokenOf(other) };
    if (!form.isOfMerchants || form.namesNothing !== true) {
      await tried("by another merchant", other.browser, { ...theirs, once: "another-once" });
    }
    if (form.namesNothing !== true && form.isOfMerchants) {
      const stolen = { ...whole, ...form.fields?.(ofOther), once: "one-more-once" };
      await tried("for what is another merchant's", acme.browser, stolen, {}, form.action(ofOther));
      // What a button stands for is not in the path: theirs under one's own path.
      if (["delivery", "snapshot"].some((name) => name in whole))
        await tried("for a part of another's", acme.browser, stolen);
    }
    expect(refused.filter(([, status]) => status < 400 || status >= 500)).toEqual([]);
    expect(await everything()).toBe(before);

    const taken = await sender.browser.post(action, whole);
    expect([200, 303]).toContain(taken.status);
    if (form.leavesNothing !== true) expect((await everything()) === before).toBe(false);
  },
);

test("a delivery of one endpoint is not made again by the form of another one of the same merchant", async () => {
  const { acme } = server;
  const elsewhere = await server.endpoint(acme);
  const page = `/console/webhooks/${ofAcme.endpoint}`;
  const before = await everything();
  const fields = { token: await tokenOf(acme), once: "of-another-endpoint", delivery: elsewhere.delivery };
  expect((await acme.browser.post(`${page}/redeliver`, fields)).status).toBe(404);
  expect(await everything()).toBe(before);
});

test("signing in and out takes a form of this browser alone", async () => {
  const { acme, other } = server;
  const victim = new ConsoleBrowser(server.url);
  const form = await victim.form("/console/sign-in", "/console/sign-in");
  const attacker = new ConsoleBrowser(server.url);
  const theirs = await attacker.form("/console/sign-in", "/console/sign-in");
  const key = other.secret;
  for (const [fields, headers] of [
    [{ key }, {}],
    [{ ...theirs, key }, {}],
    [{ ...form, key }, { "sec-fetch-site": "cross-site" }],
    [{ ...form, key }, { origin: "https://evil.example" }],
  ] as const)
    expect((await victim.post("/console/sign-in", fields, headers)).status).toBe(403);
  expect([...victim.cookies.keys()]).toEqual(["holdfast_visitor"]);

  const out = await acme.browser.form("/console", "/console/sign-out");
  for (const [fields, headers] of [
    [{}, {}],
    [{ token: await tokenOf(other) }, {}],
    [out, { "sec-fetch-site": "cross-site" }],
  ] as const)
    expect((await acme.browser.post("/console/sign-out", fields, headers)).status).toBe(403);
  expect((await acme.browser.get("/console")).status).toBe(200);
});

test("a session that was fixed beforehand is not taken over: signing in makes a new one, and an invented one is none", async () => {
  const victim = new ConsoleBrowser(server.url);
  victim.cookies.set("holdfast_session", "A".repeat(43));
  expect((await victim.get("/console")).headers.get("location")).toMatch(/^\/console\/sign-in/);
  await victim.submit("/console/sign-in", "/console/sign-in", { key: server.other.secret });
  expect(victim.cookies.get("holdfast_session")).not.toBe("A".repeat(43));
  const attacker = new ConsoleBrowser(server.url);
  attacker.cookies.set("holdfast_session", "A".repeat(43));
  expect((await attacker.get("/console")).status).toBe(303);
  expect((await victim.get("/console")).status).toBe(200);
});
