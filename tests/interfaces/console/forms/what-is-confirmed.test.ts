import { ConsoleWorld, type ConsoleBrowser } from "../../../support/console/console-world";

const HOUR_MS = 3_600_000;

let world: ConsoleWorld;
let browser: ConsoleBrowser;
let keys = 0;
beforeEach(async () => {
  world = new ConsoleWorld();
  await world.http.open();
  browser = world.browser();
});
afterEach(() => world.http.close());

const pathOf = (id: string) => `/console/payments/${id}`;
const headingOf = (text: string) => /<h1>([^<]*)<\/h1>/.exec(text)?.[1];

async function captured(wanted: Record<string, unknown> = {}): Promise<string> {
  const id = await world.http.authorize({ amount: 1_250, ...wanted });
  await world.http.capture(id, "capture-1");
  return id;
}

async function moved(id: string, name: "capture" | "refunds", amount: number) {
  const headers = { "idempotency-key": `elsewhere-${(keys += 1)}` };
  const { status } = await world.http.call("POST", `/payments/${id}/${name}`, { headers, body: { amount } });
  expect(status).toBe(201);
}

async function amountsOf(id: string, kind: string): Promise<readonly bigint[]> {
  const { payment } = (await world.http.world.context.payments.find(id as never))!;
  return payment.facts.operations.filter((one) => one.kind === kind).map(({ amount }) => amount);
}

describe.each(["refund", "capture"] as const)("a %s whose amount was left empty", (name) => {
  test.each([`${name}`, `${name}?amount=`, `${name}?key=k-1`])(
    "has the resolved amount in its address and its form: %s",
    async (asking) => {
      const id = name === "refund" ? await captured() : await world.http.authorize({ amount: 1_250 });
      const asked = await browser.follow(`${pathOf(id)}/${asking}`);
      expect(new URLSearchParams(asked.path.split("?")[1]).get("amount")).toBe("12.50");
      expect(headingOf(asked.text)).toBe(`${name === "refund" ? "Refund" : "Capture"} 12.50 EUR?`);
      const form = await browser.form(asked.path, `${pathOf(id)}/${name}`);
      expect(form["amount"]).toBe("12.50");
      expect((await browser.post(`${pathOf(id)}/${name}`, form)).status).toBe(303);
      expect(await amountsOf(id, name)).toEqual([1_250n]);
      // A reload asks for the same again.
      expect((await browser.get(asked.path)).text).toContain("This was sent before");
      expect((await browser.submit(asked.path, `${pathOf(id)}/${name}`)).status).toBe(303);
      expect(await amountsOf(id, name)).toEqual([1_250n]);
    },
  );
});

test("a refund that was asked about moves what the page said, also when a refund that failed has freed more since", async () => {
  const id = await captured({ paymentMethod: `tok_refund_fails_later_${HOUR_MS}` });
  await moved(id, "refunds", 500);
  const action = `${pathOf(id)}/refund`;
  const asked = await browser.follow(action);
  expect(headingOf(asked.text)).toBe("Refund 7.50 EUR?");
  const form = await browser.form(asked.path, action);
  world.http.world.clock.advance(HOUR_MS);
  await browser.submit(`${pathOf(id)}/observe`, `${pathOf(id)}/observe`);
  const { body } = await world.http.get(`/payments/${id}`);
  expect(body.payment.amountRefunded).toBe(0);
  // The same page, loaded again, asks about the same amount.
  expect(headingOf((await browser.get(asked.path)).text)).toBe("Refund 7.50 EUR?");
  expect((await browser.post(action, form)).status).toBe(303);
  expect(await amountsOf(id, "refund")).toEqual([500n, 750n]);
});

test("a refund that was asked about is refused when less is left, and moves nothing in its place", async () => {
  const id = await captured();
  const action = `${pathOf(id)}/refund`;
  const form = await browser.form(action, action);
  await moved(id, "refunds", 500);
  const refused = await browser.post(action, form);
  expect([refused.status, refused.text.includes("amount_exceeds_captured")]).toEqual([422, true]);
  expect(await amountsOf(id, "refund")).toEqual([500n]);
});

test.each(["refund", "capture"])("a form to %s without an amount moves nothing", async (name) => {
  const id = name === "refund" ? await captured() : await world.http.authorize({ amount: 1_250 });
  const action = `${pathOf(id)}/${name}`;
  const { amount: _, ...form } = await browser.form(action, action);
  expect((await browser.post(action, form)).status).toBe(400);
  expect(await amountsOf(id, name)).toEqual([]);
});

test("a void asks about all that is authorized, whatever amount is in its address", async () => {
  const id = await world.http.authorize({ amount: 1_250 });
  const asked = await browser.follow(`${pathOf(id)}/void?amount=5.00`);
  expect(headingOf(asked.text)).toBe("Void 12.50 EUR?");
  expect(asked.path).not.toContain("amount");
});

test("a void that was asked about is refused when the payment was captured since", async () => {
  const id = await world.http.authorize({ amount: 1_250 });
  const action = `${pathOf(id)}/void`;
  const form = await browser.form(action, action);
  await moved(id, "capture", 1_250);
  expect((await browser.post(action, form)).status).toBe(409);
  expect(await amountsOf(id, "void")).toEqual([]);
});

test("a key that another kind of movement was sent with is not taken for one that was sent", async () => {
  const id = await captured();
  const asked = await browser.follow(`${pathOf(id)}/refund?key=capture-1`);
  expect(asked.text).not.toContain("This was sent before");
  expect(asked.text).toContain("A refund cannot be taken back");
});

describe("an amount that is none", () => {
  test.each(["0", "0.00", "00", "0,0"])("is refused before anybody is asked about it: %s", async (text) => {
    for (const [id, name] of [
      [await captured(), "refund"],
      [await world.http.authorize({ amount: 1_250 }), "capture"],
    ] as const) {
      const asked = await browser.follow(`${pathOf(id)}/${name}?amount=${text}`);
      expect([asked.status, asked.text.includes("is no amount")]).toEqual([400, true]);
      const action = `${pathOf(id)}/${name}`;
      const form = await browser.form(action, action);
      expect((await browser.post(action, { ...form, amount: text })).status).toBe(400);
      expect(await amountsOf(id, name)).toEqual([]);
    }
  });

  test.each([
    ["EUR", 1_250, "An amount in EUR is written as in 12.50, with 2 digits at most behind the point."],
    ["JPY", 1_250, "An amount in JPY is written as in 1250, without a point."],
    ["KWD", 1_250, "An amount in KWD is written as in 12.500, with 3 digits at most behind the point."],
  ] as const)("is told how one in %s is written", async (currency, amount, words) => {
    const id = await captured({ currency, amount });
    const action = `${pathOf(id)}/refund`;
    const form = await browser.form(action, action);
    for (const text of ["", "x", "1.0001"]) {
      const refused = await browser.post(action, { ...form, amount: text });
      expect([text, refused.status, refused.text.includes(words)]).toEqual([text, 400, true]);
    }
    expect((await browser.get(`${action}?amount=1.0001`)).text).toContain(words);
  });

  test("is one that a form carries in another way than the page has written it", async () => {
    const id = await captured();
    const action = `${pathOf(id)}/refund`;
    const form = await browser.form(action, action);
    for (const amount of ["5", "5,00", "05.00", " 5.00"])
      expect([amount, (await browser.post(action, { ...form, amount })).status]).toEqual([amount, 400]);
    expect(await amountsOf(id, "refund")).toEqual([]);
  });
});

test("a movement that never reached the gateway is asked about as one that still moves money", async () => {
  const id = await captured();
  const action = `${pathOf(id)}/refund`;
  const asked = await browser.follow(`${action}?amount=5.00`);
  world.http.world.gateway.next("refund", () =>
    Promise.resolve({ outcome: "not_sent", reason: "ECONNREFUSED" }),
  );
  expect((await browser.submit(asked.path, action)).status).toBe(503);
  const again = await browser.get(asked.path);
  expect(headingOf(again.text)).toBe("Refund 5.00 EUR?");
  expect(again.text).not.toContain("This was sent before");
  expect((await browser.submit(asked.path, action)).status).toBe(303);
  expect(await amountsOf(id, "refund")).toEqual([500n]);
});
