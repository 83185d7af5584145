import { GatewayEventError } from "../../../../../src/application/ports/gateway-events/gateway-event-source";
import type { GatewayHint } from "../../../../../src/application/ports/gateway-events/gateway-hint";
import { followedTypes } from "../../../../../src/infrastructure/gateways/stripe/events/stripe-event";
import { StripeWebhook } from "../../../../../src/infrastructure/gateways/stripe/events/stripe-webhook";
import { signatureOf, WEBHOOK_SECRET } from "../../../../support/stripe-stand-in/signed-event";

const NOW = new Date("2026-03-01T12:00:00.400Z");
const PAYMENT = "0190a6b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b";
const OTHER_SECRET = "whsec_00000000000000000000000000000000";

const event = {
  id: "evt_1",
  object: "event",
  type: "payment_intent.succeeded",
  created: 1,
  data: { object: { object: "payment_intent", id: "pi_1", metadata: { holdfast_payment: PAYMENT } } },
};
const payload = JSON.stringify(event);
const hint: GatewayHint = {
  eventId: "evt_1",
  reference: "pi_1",
  labelled: PAYMENT as GatewayHint["labelled"],
};

async function read(body: string, signature: string | undefined, secrets = [WEBHOOK_SECRET], now = NOW) {
  const judge = await new StripeWebhook(secrets).expect(signature, now);
  return judge(Buffer.from(body));
}
const at = (seconds: number) => new Date(NOW.getTime() + seconds * 1_000);

async function codeOf(act: () => Promise<unknown>): Promise<string> {
  try {
    await act();
  } catch (error) {
    if (error instanceof GatewayEventError) return error.code;
    throw error;
  }
  return "taken";
}

describe("the signature of an event from Stripe", () => {
  it("as Stripe's own package makes it is taken, and the event is read", async () => {
    expect(await read(payload, signatureOf(payload, { at: NOW }))).toEqual(hint);
  });

  it("is of the bytes as they came: another spelling of the same JSON is refused", async () => {
    const signature = signatureOf(payload, { at: NOW });
    expect(await codeOf(() => read(JSON.stringify(event, null, 2), signature))).toBe(
      "gateway_signature_invalid",
    );
    expect(await codeOf(() => read(payload.slice(0, -1), signature))).toBe("gateway_signature_invalid");
    expect(await codeOf(() => read("", signature))).toBe("gateway_signature_invalid");
  });

  it("by another secret, or of another time than it says, is refused", async () => {
    const forged = signatureOf(payload, { at: NOW, secret: OTHER_SECRET });
    expect(await codeOf(() => read(payload, forged))).toBe("gateway_signature_invalid");
    const moved = signatureOf(payload, { at: at(-200) }).replace(
      /t=\d+/,
      `t=${Math.floor(NOW.getTime() / 1_000)}`,
    );
    expect(await codeOf(() => read(payload, moved))).toBe("gateway_signature_invalid");
  });

  it("may be five minutes off, either way, and no more", async () => {
    for (const seconds of [-299, 0, 299])
      expect(await read(payload, signatureOf(payload, { at: at(seconds) }))).toEqual(hint);
    for (const seconds of [-301, -86_400, 302, 86_400]) {
      expect(await codeOf(() => read(payload, signatureOf(payload, { at: at(seconds) })))).toBe(
        "gateway_signature_expired",
      );
    }
  });

  it("is one of several while a secret is rotated at Stripe", async () => {
    const [ours] = [signatureOf(payload, { at: NOW })];
    const theirs = signatureOf(payload, { at: NOW, secret: OTHER_SECRET }).replace(/^t=\d+,/, "");
    expect(await read(payload, `${ours},${theirs}`)).toEqual(hint);
    expect(await read(payload, ours.replace(",", `,${theirs},`))).toEqual(hint);
    expect(await read(payload, `${ours},v0=${"0".repeat(64)}`)).toEqual(hint);
  });

  it("by any of the secrets that are configured is taken, and by one that is gone is not", async () => {
    const old = signatureOf(payload, { at: NOW, secret: OTHER_SECRET });
    const both = [WEBHOOK_SECRET, OTHER_SECRET];
    expect(await read(payload, old, both)).toEqual(hint);
    expect(await read(payload, signatureOf(payload, { at: NOW }), both)).toEqual(hint);
    expect(await codeOf(() => read(payload, old))).toBe("gateway_signature_invalid");
  });

  it.each([
    [undefined, "gateway_signature_missing"],
    ["", "gateway_signature_missing"],
    ["   ", "gateway_signature_missing"],
    ["nonsense", "gateway_signature_invalid"],
    ["t=1772366400", "gateway_signature_invalid"],
    [`v1=${"a".repeat(64)}`, "gateway_signature_invalid"],
    [`t=,v1=${"a".repeat(64)}`, "gateway_signature_invalid"],
    [`t=1e9,v1=${"a".repeat(64)}`, "gateway_signature_invalid"],
    [`t=1772366400,t=1772366401,v1=${"a".repeat(64)}`, "gateway_signature_invalid"],
    [`t=1772366400,v1=${"a".repeat(63)}`, "gateway_signature_invalid"],
    [`t=1772366400,v0=${"a".repeat(64)}`, "gateway_signature_invalid"],
    [`t=1772366400,${`v1=${"a".repeat(64)},`.repeat(17)}`, "gateway_signature_invalid"],
    [`t=0,v1=${"a".repeat(64)}`, "gateway_signature_expired"],
    [`t=999999999999,v1=${"a".repeat(64)}`, "gateway_signature_expired"],
  ])("that is %j is refused before the body is read", async (header, code) => {
    expect(await codeOf(() => new StripeWebhook([WEBHOOK_SECRET]).expect(header, NOW))).toBe(code);
  });
});

describe("an event from Stripe", () => {
  const readSigned = (body: string) => read(body, signatureOf(body, { at: NOW }));
  const about = (object: object, type = "charge.refunded") =>
    readSigned(JSON.stringify({ ...event, type, data: { object } }));

  it("about a charge, a refund or a dispute is about its intent, expanded or not", async () => {
    const unlabelled = { ...hint, labelled: null };
    expect(await about({ object: "charge", id: "ch_1", payment_intent: "pi_1" })).toEqual(unlabelled);
    expect(
      await about({ object: "refund", id: "re_1", payment_intent: { id: "pi_1" }, metadata: {} }),
    ).toEqual(unlabelled);
    expect(
      await about({ object: "dispute", id: "dp_1", payment_intent: "pi_1" }, "charge.dispute.created"),
    ).toEqual(unlabelled);
  });

  it.each([
    ["another type", { ...event, type: "customer.created" }],
    ["a type of a later version", { ...event, type: "payment_intent.reversed_in_time" }],
    ["an event of Stripe's other kind", { ...event, object: "v2.core.event" }],
    [
      "a charge without an intent",
      { ...event, data: { object: { object: "charge", payment_intent: null } } },
    ],
    [
      "an intent whose id is none",
      { ...event, data: { object: { object: "payment_intent", id: "../pi_1" } } },
    ],
  ])("of %s is ignored", async (_what, foreign) => {
    expect(await readSigned(JSON.stringify(foreign))).toBeNull();
  });

  it.each([
    ["an empty object", {}],
    ["a list", [event]],
    ["nothing", null],
    ["an event without an id", { ...event, id: undefined }],
    ["an event whose id is none", { ...event, id: "evt_1; DROP" }],
    ["an event without an object", { ...event, data: undefined }],
  ])("that is %s is refused", async (_what, nonsense) => {
    expect(await codeOf(() => readSigned(JSON.stringify(nonsense)))).toBe("gateway_event_invalid");
  });

  it("that is no JSON, or only its beginning, is refused although it is signed", async () => {
    for (const body of ["<html>", "", payload.slice(0, 40)])
      expect(await codeOf(() => readSigned(body))).toBe("malformed_json");
    const latin = Buffer.from('{"a":"\xe9"}', "latin1");
    const signature = signatureOf(latin.toString("latin1"), { at: NOW });
    expect(
      await codeOf(async () => (await new StripeWebhook([WEBHOOK_SECRET]).expect(signature, NOW))(latin)),
    ).not.toBe("taken");
  });

  it("with a label that is no payment's id has none", async () => {
    for (const label of ["", "42", "x".repeat(10_000), "'; --"]) {
      const object = { object: "payment_intent", id: "pi_1", metadata: { holdfast_payment: label } };
      expect(await about(object, "payment_intent.canceled")).toEqual({ ...hint, labelled: null });
    }
  });

  it("is of at most twenty types, as many as Stripe lists at once", async () => {
    expect(followedTypes.length).toBeLessThanOrEqual(20);
    expect(new Set(followedTypes).size).toBe(followedTypes.length);
  });

  it("that is forged and as large as can be is not parsed", async () => {
    const parse = jest.spyOn(JSON, "parse");
    const huge = `{"a":"${"x".repeat(256 * 1024 - 8)}"}`;
    try {
      expect(await codeOf(() => read(huge, signatureOf(huge, { at: NOW, secret: OTHER_SECRET })))).toBe(
        "gateway_signature_invalid",
      );
      expect(parse).not.toHaveBeenCalled();
    } finally {
      parse.mockRestore();
    }
  });
});

describe("whose an event from Stripe is", () => {
  const of = (account: string) => JSON.stringify({ ...event, account });
  const ACME = "acct_acme";
  const ofAccounts = new StripeWebhook([WEBHOOK_SECRET], async (account) =>
    account === ACME ? [OTHER_SECRET] : [],
  );
  const brought = async (body: string, secret: string, account?: string) => {
    const judge = await ofAccounts.expect(signatureOf(body, { at: NOW, secret }), NOW, account);
    return judge(Buffer.from(body));
  };

  it("is the connected account that it names, or nobody's but the server's own", async () => {
    expect(await brought(of("acct_connected"), WEBHOOK_SECRET)).toEqual({
      ...hint,
      account: "acct_connected",
    });
    expect(await brought(payload, WEBHOOK_SECRET)).toEqual(hint);
    expect(await brought(of("no account"), WEBHOOK_SECRET)).toEqual(hint);
  });

  it("is the account to whose own endpoint it came, whose secret alone opens it", async () => {
    expect(await brought(payload, OTHER_SECRET, ACME)).toEqual({ ...hint, account: ACME });
    expect(await brought(of(ACME), OTHER_SECRET, ACME)).toEqual({ ...hint, account: ACME });
    for (const [secret, account] of [
      [WEBHOOK_SECRET, ACME],
      [OTHER_SECRET, undefined],
      [OTHER_SECRET, "acct_zoo"],
      [WEBHOOK_SECRET, "acct_zoo"],
    ] as const)
      expect(await codeOf(() => brought(payload, secret, account))).toBe("gateway_signature_invalid");
  });

  it("that names another account than that to whose own endpoint it came is of no interest", async () => {
    expect(await brought(of("acct_zoo"), OTHER_SECRET, ACME)).toBeNull();
  });
});
