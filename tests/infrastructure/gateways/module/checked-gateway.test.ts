import { money, parseCurrency } from "../../../../src/domain/money";
import type { OwnGateway } from "../../../../src/gateway";
import { CheckedGateway } from "../../../../src/infrastructure/gateways/module/checked-gateway";

const amount = money(1_250n, parseCurrency("EUR"));
const request = {
  gatewayKey: "k",
  operationId: "o",
  paymentId: "p",
  amount,
  authorizationReference: "a",
  timeoutMs: 1_000,
};
const asking = { ...request, kind: "capture" as const };
const SECRET = "sk-very-secret";

/** A gateway of which each method does the same; what it answers need not be what its type says. */
function answering(does: () => unknown, has: OwnGateway["has"] = ["can be found again"]): CheckedGateway {
  // Not asynchronous itself: what throws, throws at once.
  const method = (): never => does() as never;
  const gateway: OwnGateway = {
    has,
    remembersKeysForMs: 1_000,
    authorize: method,
    capture: method,
    void: method,
    refund: method,
    find: method,
    lookupAuthorization: method,
    picture: method,
  };
  return new CheckedGateway(gateway, { api_key: SECRET, mode: "test" });
}

const senseless = expect.stringMatching(/^an answer that makes no sense/);

describe("a gateway of a module", () => {
  it.each([
    [{ outcome: "succeeded", reference: "c-1" }],
    [{ outcome: "succeeded", reference: "c-1", expiresAt: new Date(0) }],
    [{ outcome: "declined", reason: "no money" }],
    [{ outcome: "authorization_gone", reason: "expired" }],
    [{ outcome: "mismatch", evidence: "another amount" }],
    [{ outcome: "mismatch", evidence: "captured", reference: "c-2", captured: true }],
    [{ outcome: "unknown", reason: "timeout" }],
  ])("a gateway of a module that answers %j, sent to or asked, has answered that", async (answer) => {
    expect(await answering(() => answer).capture(request)).toEqual(answer);
    expect(await answering(() => answer).find(asking)).toEqual(answer);
  });

  it("a gateway of a module may say that nothing was sent, and that a key is absent or pending", async () => {
    const notSent = { outcome: "not_sent", reason: "refused" };
    expect(await answering(() => notSent).refund(request)).toEqual(notSent);
    for (const outcome of ["absent", "pending"])
      expect(await answering(() => ({ outcome })).find(asking)).toEqual({ outcome });
  });

  const action = { outcome: "requires_action", reference: "a-1", url: "https://bank.example/3ds?x=1" };

  it.each([action, { ...action, until: new Date(0) }, { ...action, url: "http://127.0.0.1:9000/page" }])(
    "a gateway of a module may send the customer to a page: %j",
    async (answer) => {
      expect(await answering(() => answer).authorize({ ...request, paymentMethod: "card" })).toEqual(answer);
      expect(await answering(() => answer).find({ ...asking, kind: "authorize" })).toEqual(answer);
    },
  );

  it.each([
    { url: "/payments/x?secret=y" },
    { url: "javascript:alert(1)" },
    { url: "https://bank.example/\nSet-Cookie: a=b" },
    { url: `https://bank.example/${"x".repeat(2_048)}` },
    { url: undefined },
    { reference: "" },
    { until: "tomorrow" },
  ])(
    "a gateway of a module that sends the customer to a page by %j has said nothing that is known",
    async (change) => {
      const gateway = answering(() => ({ ...action, ...change }));
      expect(await gateway.authorize({ ...request, paymentMethod: "card" })).toEqual({
        outcome: "unknown",
        reason: senseless,
      });
    },
  );

  it("a gateway of a module that answers later may say pending to what it is sent, with a name and a time", async () => {
    const later = (answer: object) => answering(() => answer, ["can be found again", "answers later"]);
    const decidesBy = new Date("2026-12-01T00:00:00.000Z");
    const whole = { outcome: "pending", reference: "re-1", decidesBy };
    expect(await later(whole).refund(request)).toEqual(whole);
    expect(await later(whole).find(asking)).toEqual(whole);
  });

  it.each([
    { reference: 42 },
    { reference: "a\u0000b" },
    { decidesBy: "never" },
    { decidesBy: null },
    { decidesBy: new Date(NaN) },
    { decidesBy: new Date(8.64e15) },
  ])("a gateway of a module that says pending with %j has promised nothing", async (rest) => {
    const gateway = answering(() => ({ outcome: "pending", ...rest }), ["answers later"]);
    for (const said of [gateway.refund(request), gateway.find(asking)])
      expect(await said).toEqual({ outcome: "unknown", reason: senseless });
  });

  it("a gateway of a module that answers later can be asked, also without the layer of being found", async () => {
    const later = answering(() => ({ outcome: "pending" }), ["answers later"]);
    expect(await later.find(asking)).toEqual({ outcome: "pending" });
  });

  it.each([
    undefined,
    null,
    "succeeded",
    true,
    {},
    { outcome: "ok" },
    { outcome: "constructor" },
    { outcome: "succeeded" },
    { outcome: "succeeded", reference: "" },
    { outcome: "succeeded", reference: 42 },
    { outcome: "succeeded", reference: "a\u0000b" },
    { outcome: "succeeded", reference: "x".repeat(256) },
    { outcome: "succeeded", reference: "c-1", expiresAt: "2026-11-19" },
    { outcome: "succeeded", reference: "c-1", expiresAt: new Date(NaN) },
    { outcome: "declined" },
    { outcome: "declined", reason: 402 },
    { outcome: "declined", reason: " \n\u0000" },
    { outcome: "authorization_gone" },
    { outcome: "mismatch" },
    { outcome: "mismatch", evidence: "" },
    { outcome: "mismatch", evidence: "another amount", reference: 42 },
    { outcome: "mismatch", evidence: "another amount", captured: "yes" },
    { outcome: "not_sent" },
  ])("a gateway of a module that answers %j has said nothing that is known", async (answer) => {
    const gateway = answering(() => answer);
    for (const said of [gateway.capture(request), gateway.void(request), gateway.find(asking)])
      expect(await said).toEqual({ outcome: "unknown", reason: senseless });
  });

  it("a gateway of a module that says of a request what only a question has for an answer, and the other way, is not known", async () => {
    for (const outcome of ["absent", "pending"])
      expect(await answering(() => ({ outcome })).capture(request)).toMatchObject({ outcome: "unknown" });
    const found = await answering(() => ({ outcome: "not_sent", reason: "x" })).find(asking);
    expect(found).toMatchObject({ outcome: "unknown" });
  });

  it("a gateway of a module that throws, at once or later, is unknown, in one line without its secrets", async () => {
    const thrown = () => {
      throw new Error(`401 for\n\u0000${SECRET} in test`);
    };
    expect(await answering(thrown).capture(request)).toEqual({
      outcome: "unknown",
      reason: "the gateway module failed: Error: 401 for *** in test",
    });
    const strange = () => {
      throw Object.create(null);
    };
    expect(await answering(strange).find(asking)).toMatchObject({ outcome: "unknown" });
  });

  it("a gateway of a module gives its refusals words that a database takes", async () => {
    const reason = `${"x".repeat(499)}\u{1F600}`;
    const { reason: kept } = (await answering(() => ({ outcome: "declined", reason })).capture(request)) as {
      reason: string;
    };
    expect(kept).toBe("x".repeat(499));
    const bare = await answering(() => ({ outcome: "unknown" })).capture(request);
    expect(bare).toEqual({ outcome: "unknown", reason: "no reason was given" });
  });

  it("a gateway of a module that cannot be found again is not asked", async () => {
    const gateway = answering(() => ({ outcome: "succeeded", reference: "c-1" }), ["moves once"]);
    expect(await gateway.find(asking)).toEqual({
      outcome: "unknown",
      reason: "this gateway cannot be asked",
    });
  });

  it("a gateway of a module shows authorizations made elsewhere as they are, if it says enough of them", async () => {
    const authorization = { reference: "e-1", amount, expiresAt: null, paymentId: null };
    const found = { outcome: "found", merchant: "acme", authorization };
    const look = (answer: unknown) =>
      answering(() => answer).lookupAuthorization({ reference: "e-1", timeoutMs: 1 });
    expect(await look(found)).toEqual(found);
    expect(await look({ ...found, authorization: { reference: "e-1", amount } })).toEqual(found);
    expect(await look({ outcome: "not_found" })).toEqual({ outcome: "not_found" });
    const gone = { outcome: "not_capturable", merchant: null, reason: "captured" };
    expect(await look(gone)).toEqual(gone);
    for (const nonsense of [
      { ...found, merchant: undefined },
      { ...gone, merchant: undefined },
      { ...gone, reason: undefined },
      { ...found, authorization: { ...authorization, amount: { ...amount, amount: 1250 } } },
      { ...found, authorization: { ...authorization, amount: { ...amount, amount: 0n } } },
      { ...found, authorization: { ...authorization, amount: { ...amount, exponent: 3 } } },
      { ...found, authorization: { ...authorization, amount: { ...amount, currency: "XYZ" } } },
      { ...found, authorization: { ...authorization, expiresAt: "soon" } },
      { ...found, authorization: { ...authorization, paymentId: 7 } },
      { ...found, authorization: { ...authorization, reference: "" } },
      undefined,
    ])
      expect(await look(nonsense)).toEqual({ outcome: "unknown", reason: senseless });
  });

  it("a gateway of a module that looks nothing up has no authorization for anybody", async () => {
    const without = { has: [], remembersKeysForMs: 1 } as unknown as OwnGateway;
    const gateway = new CheckedGateway(without);
    expect(await gateway.lookupAuthorization({ reference: "e-1", timeoutMs: 1 })).toEqual({
      outcome: "not_found",
    });
    await gateway.close();
  });

  it("a gateway of a module is closed once, and one that does not come to an end is waited for five seconds", async () => {
    let closed = 0;
    const never = new Promise<void>(() => {});
    const own = {
      has: [],
      remembersKeysForMs: 1,
      close: () => ((closed += 1), never),
    } as unknown as OwnGateway;
    jest.useFakeTimers();
    try {
      const closing = new CheckedGateway(own).close();
      await jest.advanceTimersByTimeAsync(5_000);
      await closing;
    } finally {
      jest.useRealTimers();
    }
    expect(closed).toBe(1);
  });
});

describe("the words of a module", () => {
  it.each([
    { outcome: "declined", reason: `card of ${SECRET}` },
    { outcome: "mismatch", evidence: `seen by ${SECRET}` },
    { outcome: "unknown", reason: `timeout of ${SECRET}` },
  ])("the words of a module in %j hold no value of its options", async (answer) => {
    const said = JSON.stringify(await answering(() => answer).capture(request));
    expect(said).not.toContain(SECRET);
    expect(said).toContain("***");
  });
});

describe("a picture that a module has drawn", () => {
  const refund = {
    reference: "r-1",
    amount: 1n,
    operationId: "o",
    state: "failed",
    reason: "account closed",
  };
  const dispute = { id: "d-1", status: "lost", amount: 5_000n, reason: "fraudulent", dueBy: null };
  const drawn = {
    authorization: "captured",
    authorizedUntil: new Date(0),
    captured: { reference: "c-1", amount: 5_000n, operationId: null },
    cancellation: null,
    refunds: [refund],
    disputes: [dispute],
  };
  const asking = { paymentId: "p", amount, authorizationReference: "a", timeoutMs: 1_000 };
  const draws = (picture: unknown) =>
    answering(() => ({ outcome: "seen", picture }), ["shows its picture"]).picture?.(asking);

  it("a picture that a module has drawn is taken as it is if it makes sense", async () => {
    expect(await draws(drawn)).toEqual({ outcome: "seen", picture: drawn });
    const unknown = { outcome: "unknown", reason: "timeout" };
    expect(await answering(() => unknown, ["shows its picture"]).picture?.(asking)).toEqual(unknown);
  });

  it.each([
    undefined,
    {},
    { ...drawn, authorization: "paid" },
    { ...drawn, captured: { reference: "c-1", amount: 50, operationId: null } },
    { ...drawn, captured: { reference: "c-1", amount: -1n, operationId: null } },
    { ...drawn, captured: { reference: "", amount: 1n, operationId: null } },
    { ...drawn, authorizedUntil: new Date(NaN) },
    { ...drawn, refunds: [{ reference: "r-1", amount: 1n, operationId: null, state: "done", reason: null }] },
    { ...drawn, captured: { reference: "c-1", amount: 10n ** 20n, operationId: null } },
    { ...drawn, refunds: [refund, { ...refund, amount: 2n }] },
    { ...drawn, disputes: null },
    { ...drawn, disputes: [dispute, { ...dispute, status: "won" }] },
    { ...drawn, disputes: [{ ...dispute, amount: 1_000_000_000_000n }] },
    { ...drawn, disputes: [{ ...dispute, dueBy: new Date(8.64e15) }] },
    { ...drawn, disputes: [{ ...dispute, dueBy: new Date(-8.64e15) }] },
  ])("a picture with a part that makes no sense is none (%#)", async (picture) => {
    const reason = expect.stringMatching(/^a picture that makes no sense \(/);
    expect(await draws(picture)).toEqual({ outcome: "unknown", reason });
  });

  it("a picture that a module has drawn may have amounts and times at their bounds", async () => {
    const dueBy = new Date("9999-12-31T23:59:59.999Z");
    const edge = { ...drawn, disputes: [{ ...dispute, amount: 999_999_999_999n, dueBy }] };
    expect(await draws(edge)).toEqual({ outcome: "seen", picture: edge });
  });

  it("a picture with one dispute twice says so", async () => {
    expect(await draws({ ...drawn, disputes: [dispute, { ...dispute, status: "won" }] })).toEqual({
      outcome: "unknown",
      reason: "a picture that makes no sense (picture.disputes: two have the same id)",
    });
  });

  it("a gateway of a module is not asked for a picture unless it says that it shows one", async () => {
    expect(answering(() => ({ outcome: "seen", picture: drawn })).picture).toBeUndefined();
  });
});
