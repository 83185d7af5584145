import { expectProblem } from "../../support/http-expectations";
import { HttpWorld } from "../../support/worlds/http-world";

let http: HttpWorld;
afterEach(() => http.close());

const observe = (id: string) => http.call("POST", `/gateway/payments/${id}/observe`);
const refund = (id: string, key: string) =>
  http.call("POST", `/payments/${id}/refunds`, { body: {}, headers: { "idempotency-key": key } });

test("a refund that failed later is corrected, keeps its answer, and is made again under another key", async () => {
  http = await new HttpWorld().open();
  const id = await http.authorize({ paymentMethod: "tok_refund_fails_later_60000" });
  await http.capture(id, "c");
  const first = await refund(id, "r");
  expect(first.status).toBe(201);
  http.world.clock.advance(60_000);
  expectProblem(await refund(id, "r2"), 422, "amount_exceeds_captured");

  const { status, body } = await observe(id);
  expect(status).toBe(200);
  expect(body.operations).toMatchObject([
    { kind: "authorize", result: "agrees" },
    { kind: "capture", result: "agrees" },
    {
      kind: "refund",
      recorded: "succeeded",
      gateway: { answer: "declined", reason: "refund_failed" },
      result: "corrected",
      notAsked: null,
    },
  ]);
  const shown = await http.get(`/payments/${id}`);
  expect(shown.body.payment).toEqual(body.payment);
  expect(shown.body.payment).toMatchObject({
    amountRefunded: 0,
    refunds: [{ status: "failed", failureCode: "refund_declined" }],
  });

  const repeated = await refund(id, "r");
  expect(repeated.status).toBe(201);
  expect(repeated.headers.get("idempotency-replayed")).toBe("true");
  expect(repeated.body).toEqual(first.body);
  const again = await refund(id, "r2");
  expect(again.body.payment).toMatchObject({ amountRefunded: 1_000 });
});

test("the payment's merchant reads what became of the refund, and not whose key it was", async () => {
  http = await new HttpWorld().open();
  http.keys.add("acme-secret", "acme");
  http.keys.add("boss", "other", true);
  const acme = { authorization: "Bearer acme-secret" };
  const id = await http.authorize({ paymentMethod: "tok_refund_fails_later_1000" }, acme);
  await http.capture(id, "c", {}, acme);
  const headers = { ...acme, "idempotency-key": "r" };
  await http.call("POST", `/payments/${id}/refunds`, { body: {}, headers });
  http.world.clock.advance(1_000);
  await http.call("POST", `/gateway/payments/${id}/observe`, { headers: { authorization: "Bearer boss" } });
  const { body } = await http.get(`/payments/${id}/events`, acme);
  const events = body.data as { readonly type: string; readonly data: Record<string, unknown> }[];
  const last = events.at(-1);
  expect(last).toMatchObject({
    type: "refund.failed",
    data: { recorded: "succeeded", reason: "refund_failed" },
  });
  expect(last?.data["by"]).toEqual({ operator: true });
});

test("what is not there cannot be asked about", async () => {
  http = await new HttpWorld().open();
  expectProblem(await observe("018f3a9e-0000-7000-8000-000000000000"), 404, "payment_not_found");
  expectProblem(await observe("nonsense"), 400, "invalid_payment_id");
});

test("a gateway that does not tell how often money moved can be asked all the same", async () => {
  http = await new HttpWorld({ app: { gatewayMoves: undefined } }).open();
  const id = await http.authorize();
  expect((await observe(id)).status).toBe(200);
});

test("what others did at the gateway is shown and told as what it is, and so is a dispute", async () => {
  http = await new HttpWorld().open();
  const id = await http.authorize({ paymentMethod: "tok_captured_elsewhere_0" });
  const { body } = await observe(id);
  expect(body.operations).toMatchObject([
    { kind: "authorize", result: "agrees" },
    {
      kind: "capture",
      recorded: "succeeded",
      gateway: null,
      result: "not_asked",
      notAsked: "made_elsewhere",
    },
  ]);
  expect(body.payment).toMatchObject({
    status: "captured",
    amountCaptured: 1_000,
    captures: [{ origin: "gateway", status: "succeeded" }],
    disputes: [],
  });
  expect((await http.get(`/payments/${id}`)).body.payment).toEqual(body.payment);

  const disputed = await http.authorize({ paymentMethod: "tok_dispute_0" });
  await http.capture(disputed, "c");
  const seen = (await observe(disputed)).body.payment;
  expect(seen.disputes).toMatchObject([{ status: "needs_response", amount: 1_000, reason: "fraudulent" }]);
  const told = await http.get(`/payments/${disputed}/events`);
  const lines = told.body.data as readonly { readonly type: string }[];
  expect(lines.at(-1)).toMatchObject({
    type: "dispute.opened",
    data: { disputeId: seen.disputes[0].id, by: expect.anything() },
  });
});

test("an open operation whose outcome the gateway shows is settled by an observation", async () => {
  http = await new HttpWorld().open();
  const id = await http.authorize({ paymentMethod: "tok_timeout_captured" });
  expect((await http.capture(id, "c")).status).toBe(202);
  const { body } = await observe(id);
  expect(body.operations[1]).toMatchObject({
    kind: "capture",
    recorded: "unknown",
    gateway: { answer: "succeeded", reference: expect.any(String) },
    result: "settled",
  });
  expect(body.payment.status).toBe("captured");
});
