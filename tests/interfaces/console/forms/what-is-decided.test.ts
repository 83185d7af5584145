import { ConsoleWorld, type ConsoleBrowser } from "../../../support/console/console-world";

let world: ConsoleWorld;
let browser: ConsoleBrowser;
let path: string;
let operation: string;
beforeEach(async () => {
  world = new ConsoleWorld();
  await world.http.open();
  browser = world.browser();
  // A void that met a capture made elsewhere: nobody but a person can decide.
  const payment = await world.http.authorize({ paymentMethod: "tok_void_captured_elsewhere" });
  const headers = { "idempotency-key": "void-1" };
  const { body } = await world.http.call("POST", `/payments/${payment}/void`, { headers, body: {} });
  operation = body.void.id as string;
  path = `/console/reviews/${operation}`;
});
afterEach(() => world.http.close());

const verdict = {
  outcome: "not_moved",
  evidence: "the dashboard shows a capture",
  overrideReason: "by hand",
};
const resolved = async () => {
  const { body } = await world.http.get(`/reviews/${operation}`);
  return (body.events as { type: string }[]).filter(({ type }) => type === "review.resolved").length;
};

test("a verdict whose page was opened before another one decided is refused, and changes nothing", async () => {
  const form = await browser.form(path, path);
  expect((await browser.submit(path, path, verdict)).status).toBe(303);
  const late = await browser.post(path, { ...form, ...verdict, outcome: "moved" });
  expect([late.status, late.text.includes("operation_not_in_review")]).toEqual([409, true]);
  expect(await resolved()).toBe(1);
});

test("a verdict is asked for again when somebody else has said something about the operation since", async () => {
  const form = await browser.form(path, path);
  const pending = { outcome: "pending", evidence: "support looks into it until Friday" };
  expect((await browser.submit(path, path, pending)).status).toBe(303);
  const late = await browser.post(path, { ...form, ...verdict });
  expect([late.status, await resolved()]).toEqual([409, 0]);
  // Both what was said and what was written are there.
  expect(late.text).toContain("support looks into it until Friday");
  expect(late.text).toContain("the dashboard shows a capture");
  expect((await browser.submit(path, path, verdict)).status).toBe(303);
  expect(await resolved()).toBe(1);
});

test("whoever insists against the gateway does so against the answer that they saw", async () => {
  const form = await browser.form(path, path);
  world.http.world.gateway.answersQuestions({ outcome: "succeeded", reference: "v-1" });
  const late = await browser.post(path, { ...form, ...verdict });
  expect([late.status, await resolved()]).toEqual([409, 0]);
  expect(late.text).toContain("what the gateway says has changed");
  expect((await browser.submit(path, path, verdict)).status).toBe(303);
  expect(await resolved()).toBe(1);
});

test("a verdict that does not say what was seen is asked for again", async () => {
  const { seen: _, ...form } = await browser.form(path, path);
  expect((await browser.post(path, { ...form, ...verdict })).status).toBe(409);
  expect(await resolved()).toBe(0);
});
