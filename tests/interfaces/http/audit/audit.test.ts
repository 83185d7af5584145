import { expectProblem } from "../../../support/http-expectations";
import { HttpWorld } from "../../../support/worlds/http-world";

let http: HttpWorld;
beforeEach(async () => {
  http = await new HttpWorld().open();
  http.keys.add("boss", "acme", true);
  http.keys.add("till", "acme");
});
afterEach(() => http.close());

const as = (secret: string, reason?: string) => ({
  authorization: `Bearer ${secret}`,
  ...(reason === undefined ? {} : { "holdfast-reason": encodeURIComponent(reason) }),
});

/** An operation that only a person can decide. */
async function inReview(): Promise<{ payment: string; operation: string }> {
  const payment = await http.authorize({ paymentMethod: "tok_capture_timeout_captured" }, as("till"));
  await http.call("POST", `/payments/${payment}/capture`, {
    body: {},
    headers: { ...as("till"), "idempotency-key": "k" },
  });
  http.world.clock.advance(10_000);
  http.world.gateway.answersQuestions({ outcome: "mismatch", evidence: "another amount" });
  await http.world.reconcile();
  http.world.gateway.answersQuestions({ outcome: "unknown", reason: "silent" });
  const { data } = (await http.get("/reviews", as("boss"))).body;
  return { payment, operation: data[0].operationId };
}

test("a verdict over HTTP leaves an entry with the key, the address and the request", async () => {
  const { payment, operation } = await inReview();
  const body = { outcome: "moved", evidence: "the dashboard shows it" };
  const headers = { ...as("boss"), "x-request-id": "desk-7" };
  expect((await http.call("POST", `/reviews/${operation}`, { body, headers })).status).toBe(200);
  const { status, body: page } = await http.get(`/audit?paymentId=${payment}`, as("boss"));
  expect(status).toBe(200);
  expect(page).toMatchObject({
    data: [
      {
        kind: "review.resolved",
        actor: { type: "api_key", id: "key-1" },
        origin: { over: "http", address: "127.0.0.1", requestId: "desk-7" },
        reason: "the dashboard shows it",
        subject: operation,
        merchant: "acme",
        paymentId: payment,
      },
    ],
    nextCursor: null,
  });
});

test("the audit is for operators alone", async () => {
  expectProblem(await http.get("/audit", as("till")), 403, "operator_key_required");
  expectProblem(await http.get("/audit"), 401, "unauthorized");
});

test.each(["kind=anything", "from=yesterday", "cursor=bm9uZQ", "paymentId=1", "limit=0", "who=me"])(
  "the audit refuses the question ?%s",
  async (query) => {
    expectProblem(await http.get(`/audit?${query}`, as("boss")), 400, "invalid_request");
  },
);

test("an act whose reason cannot be read is not done", async () => {
  const { operation } = await inReview();
  const send = (reason: string) =>
    http.call("POST", `/reviews/${operation}`, {
      body: { outcome: "moved", evidence: "seen" },
      headers: { ...as("boss"), "holdfast-reason": reason },
    });
  for (const reason of ["100%", "%00", encodeURIComponent("x".repeat(2_001))])
    expectProblem(await send(reason), 400, "invalid_request");
  expect((await http.get("/audit", as("boss"))).body.data).toEqual([]);
  expect((await send(encodeURIComponent("Überprüft"))).status).toBe(200);
});
