import { parseSandboxId } from "../../../../src/application/sandboxes/sandbox-ids";
import { HttpWorld, type HttpAnswer } from "../../../support/worlds/http-world";
import { SandboxInstances, unknownId, type SandboxInstance } from "../../../support/worlds/sandbox-instances";

const returnUrl = "https://shop.example/back";
const order = { amount: 1_250, currency: "EUR", paymentMethod: "tok_requires_action", returnUrl };
const KEY = { authorization: "Bearer acme-key" };

let instances: SandboxInstances;
let one: SandboxInstance;
let http: HttpWorld;
let sent = 0;

beforeEach(async () => {
  instances = new SandboxInstances();
  one = instances.instance("one");
  http = await new HttpWorld({ app: { sandboxes: one.sandboxes, customerPages: undefined } }).open();
  http.keys.add("acme-key", "acme");
});
afterEach(async () => {
  await http.close();
  await instances.close();
});

const post = (path: string, body: unknown = {}): Promise<HttpAnswer> =>
  http.call("POST", path, { body, headers: { ...KEY, "idempotency-key": `k${(sent += 1)}` } });
const get = (path: string) => http.get(path, KEY);

async function sandboxWithWaiting() {
  const sandbox = (await post("/sandboxes")).body.sandbox.id as string;
  const { status, body } = await post(`/sandboxes/${sandbox}/payments`, order);
  expect(status).toBe(201);
  return { sandbox, id: body.payment.id as string, url: new URL(body.payment.nextAction.url as string) };
}

/** Without any key: a customer has none. */
async function act(url: URL, decision: "confirm" | "decline") {
  const secret = url.searchParams.get("secret") ?? "";
  const { status } = await fetch(`${url.origin}${url.pathname}`, {
    method: "POST",
    redirect: "manual",
    headers: { origin: url.origin },
    body: new URLSearchParams({ secret, decision }),
  });
  return status;
}

const statusIn = async (sandbox: string, id: string) =>
  (await get(`/sandboxes/${sandbox}/payments/${id}`)).body.payment.status as string;

test("a customer of a sandbox confirms at the sandbox's own page, without an API key", async () => {
  const { sandbox, id, url } = await sandboxWithWaiting();
  expect(url.href).toContain(`${http.url}/simulated-gateway/sandboxes/${sandbox}/payments/${id}?secret=`);
  expect(await (await fetch(url)).text()).toContain("acme wants to reserve 12.50 EUR.");
  expect(await act(url, "confirm")).toBe(303);
  expect(await statusIn(sandbox, id)).toBe("authorized");
});

test("a sandbox made from a snapshot has its own page for the same payment, and the first one does not notice", async () => {
  const golden = await sandboxWithWaiting();
  const snapshot = (await post(`/sandboxes/${golden.sandbox}/checkpoint`)).body.snapshot.id as string;
  const copy = (await post("/sandboxes", { fromSnapshot: snapshot })).body.sandbox.id as string;
  const { payment } = (await get(`/sandboxes/${copy}/payments/${golden.id}`)).body;
  const url = new URL(payment.nextAction.url as string);
  expect(url.pathname).toContain(copy);
  expect(await act(url, "decline")).toBe(303);
  expect(await statusIn(copy, golden.id)).toBe("declined");
  expect(await statusIn(golden.sandbox, golden.id)).toBe("requires_action");
  expect(await act(golden.url, "confirm")).toBe(303);
  expect(await statusIn(golden.sandbox, golden.id)).toBe("authorized");
});

test("a customer finds the page of a sandbox that was not in memory, and what they decide is kept", async () => {
  const { sandbox, id, url } = await sandboxWithWaiting();
  await one.sandboxes.detach(parseSandboxId(sandbox));
  expect(await act(url, "confirm")).toBe(303);
  await one.sandboxes.detach(parseSandboxId(sandbox));
  expect(await statusIn(sandbox, id)).toBe("authorized");
});

test("a sandbox's clock lets a customer who does nothing run out of time", async () => {
  const { sandbox, id, url } = await sandboxWithWaiting();
  await post(`/sandboxes/${sandbox}/clock`, { advanceSeconds: 3_590 });
  expect(await statusIn(sandbox, id)).toBe("requires_action");
  await post(`/sandboxes/${sandbox}/clock`, { advanceSeconds: 20 });
  expect(await statusIn(sandbox, id)).toBe("expired");
  expect(await act(url, "confirm")).toBe(303);
  expect(await (await fetch(url)).text()).toContain("This payment is over");
  const { data } = (await get(`/sandboxes/${sandbox}/events`)).body as { data: { type: string }[] };
  expect(data.map(({ type }) => type)).toEqual(["payment.requires_action", "payment.expired"]);
});

test("a page of another sandbox, or of none, does not exist", async () => {
  const { sandbox, url } = await sandboxWithWaiting();
  const other = (await post("/sandboxes")).body.sandbox.id as string;
  for (const [elsewhere, code] of [
    [other, "payment_not_found"],
    [unknownId, "sandbox_not_found"],
  ] as const) {
    const answer = await http.get(`${url.pathname.replace(sandbox, elsewhere)}${url.search}`);
    expect({ status: answer.status, code: answer.body.code }).toEqual({ status: 404, code });
  }
});

test("everything else in a sandbox still needs its merchant's key", async () => {
  const { sandbox, id } = await sandboxWithWaiting();
  expect((await http.get(`/sandboxes/${sandbox}/payments/${id}`)).status).toBe(401);
});
