import { openOperationOf } from "../../../src/domain/payment/payment";
import type { AuthorizationLookup, LookupAnswer } from "../../../src/application/ports/authorization-lookup";
import {
  ImportAuthorization,
  type GatewayAccount,
} from "../../../src/application/use-cases/import-authorization";
import { parseIdempotencyKey, parseMerchantId } from "../../../src/domain/identifiers";
import { money, parseCurrency } from "../../../src/domain/money";
import { PaymentError } from "../../../src/domain/payment/errors";
import { codeOf, PaymentsWorld } from "../../support/worlds/payments-world";

const REFERENCE = "ext_1250_eur_browser";
const HOUR = 3_600_000;

class ImportWorld extends PaymentsWorld {
  lookups = 0;
  answer: (() => Promise<LookupAnswer>) | undefined;
  readonly lookup: AuthorizationLookup = {
    lookupAuthorization: (request) => {
      this.lookups += 1;
      return this.answer?.() ?? this.simulated.lookupAuthorization(request);
    },
  };

  imported(
    key = "k",
    gatewayReference = REFERENCE,
    change: { merchant?: string; expires?: number; operator?: boolean; account?: GatewayAccount } = {},
  ) {
    return new ImportAuthorization(this.locks, this.context, this.lookup, change.account ?? "shared").execute(
      {
        idempotencyKey: parseIdempotencyKey(key),
        gatewayReference,
        reference: "order-1",
        metadata: { b: "2", a: "1" },
        expiresInSeconds: change.expires ?? null,
      },
      this.caller({
        operator: change.operator ?? true,
        ...(change.merchant === undefined ? {} : { merchant: parseMerchantId(change.merchant) }),
      }),
    );
  }
}

function found(change: Partial<Extract<LookupAnswer, { outcome: "found" }>["authorization"]> = {}) {
  const authorization = {
    reference: REFERENCE,
    amount: money(1_250n, parseCurrency("EUR")),
    expiresAt: null,
    paymentId: null,
    ...change,
  };
  return async (): Promise<LookupAnswer> => ({ outcome: "found", merchant: null, authorization });
}

describe("an authorization that was made elsewhere", () => {
  test("an authorization that was made elsewhere becomes a payment that lives like any other, and nothing was sent for it", async () => {
    const world = new ImportWorld();
    const { payment } = await world.imported();
    expect(payment.facts).toMatchObject({
      status: "authorized",
      amount: { amount: 1_250n, currency: "EUR" },
      authorizationReference: REFERENCE,
      reference: "order-1",
    });
    expect(world.gateway.calls).toEqual([]);
    expect(await codeOf(world.capture(payment.facts.id, "c"))).toBe("succeeded");
    expect(await world.timesCaptured(payment.facts.id)).toBe(1);
    const [authorized] = (await world.context.payments.events(payment.facts.id)) ?? [];
    expect(authorized?.data).toMatchObject({ imported: REFERENCE, by: { key: "test" } });
  });

  test("an authorization that was made elsewhere has no card of ours, is new to its key, and says where it was found", async () => {
    const world = new ImportWorld();
    const { payment, replayed } = await world.imported();
    expect([payment.facts.paymentMethod, replayed]).toEqual(["", false]);
    const [authorized] = (await world.context.payments.events(payment.facts.id)) ?? [];
    expect(authorized?.data["gateway"]).toEqual({ asked: "lookup", answer: "found", reference: REFERENCE });
  });

  test("an authorization that was made elsewhere is not imported when its time is over, nor before the gateway has decided", async () => {
    const world = new ImportWorld();
    world.answer = found({ expiresAt: world.clock.now() });
    await expect(world.imported()).rejects.toMatchObject({
      code: "authorization_not_capturable",
      facts: { gatewayReference: REFERENCE, reason: "expired" },
    });
    world.answer = async () => ({ outcome: "undecided", merchant: null, reason: "the customer has to act" });
    await expect(world.imported()).rejects.toMatchObject({
      code: "gateway_unavailable",
      facts: { reason: "the customer has to act" },
    });
  });

  test("an authorization that was made elsewhere with the same key again is the same payment, and the gateway is not asked", async () => {
    const world = new ImportWorld();
    const first = await world.imported();
    await world.capture(first.payment.facts.id, "c");
    const again = await world.imported();
    expect(again).toMatchObject({ replayed: true, operation: first.operation });
    expect(again.payment.facts).toMatchObject({ id: first.payment.facts.id, status: "authorized" });
    expect(world.lookups).toBe(1);
  });

  test("an authorization that was made elsewhere is refused for a key that asked for something else, imported or authorized", async () => {
    const world = new ImportWorld();
    await world.imported();
    expect(await codeOf(world.imported("k", "ext_1_eur_other"))).toBe("idempotency_key_reused");
    expect(await codeOf(world.imported("k", REFERENCE, { expires: 60 }))).toBe("idempotency_key_reused");
  });

  test("an authorization that was made elsewhere makes one payment, whoever asks, with whatever key", async () => {
    const world = new ImportWorld();
    await world.imported();
    expect(await codeOf(world.imported("other"))).toBe("authorization_already_imported");
    expect(await codeOf(world.imported("k", REFERENCE, { merchant: "stranger" }))).toBe(
      "authorization_already_imported",
    );
  });

  test("refused leaves the key free", async () => {
    const world = new ImportWorld();
    await world.imported();
    expect(await codeOf(world.imported("other"))).toBe("authorization_already_imported");
    expect(await codeOf(world.imported("other", "ext_1_eur_other"))).toBe("succeeded");
  });

  test("asked for at once with one key makes one payment that all get", async () => {
    const world = new ImportWorld();
    const answers = await Promise.all([world.imported(), world.imported(), world.imported()]);
    expect(new Set(answers.map(({ payment }) => payment.facts.id)).size).toBe(1);
  });

  test("asked for at once with several keys makes one payment", async () => {
    const world = new ImportWorld();
    const codes = await Promise.all(["a", "b", "c"].map((key) => codeOf(world.imported(key))));
    expect(codes.sort()).toEqual([
      "authorization_already_imported",
      "authorization_already_imported",
      "succeeded",
    ]);
  });

  test("an authorization that was made elsewhere that was made by this service belongs to the payment it was made for", async () => {
    const world = new ImportWorld();
    const id = await world.authorize();
    const { authorizationReference } = (await world.payment(id)).facts;
    expect(await codeOf(world.imported("k", authorizationReference ?? ""))).toBe(
      "authorization_already_imported",
    );
  });
});

describe("in an account that merchants share", () => {
  const OURS = `${REFERENCE}.for_acme`;
  const asMerchant = (merchant: string) => ({ merchant, operator: false });

  test("an authorization is taken over by the merchant that its own record names", async () => {
    const world = new ImportWorld();
    expect(await codeOf(world.imported("k", OURS, asMerchant("acme")))).toBe("succeeded");
    expect(await codeOf(world.imported("other", OURS, asMerchant("acme")))).toBe(
      "authorization_already_imported",
    );
  });

  test("one that names nobody is an operator's to take over, for any merchant", async () => {
    const world = new ImportWorld();
    expect(await codeOf(world.imported("k", REFERENCE, asMerchant("acme")))).toBe("authorization_not_found");
    const { payment } = await world.imported("k", REFERENCE, { merchant: "other", operator: true });
    expect(payment.facts.merchant).toBe("other");
  });

  test("and in an account of the merchant's own everything is the merchant's", async () => {
    const change = { ...asMerchant("acme"), account: "the merchant's own" } as const;
    expect(await codeOf(new ImportWorld().imported("k", REFERENCE, change))).toBe("succeeded");
  });

  const made: Record<string, (world: ImportWorld) => Promise<string>> = {
    "can be captured": async () => OURS,
    "names nobody": async () => REFERENCE,
    "is another merchant's payment": async (world) => {
      await world.imported("k", OURS, asMerchant("acme"));
      return OURS;
    },
    "has been captured": async (world) => {
      const { payment } = await world.imported("k", OURS, asMerchant("acme"));
      await world.capture(payment.facts.id, "c");
      return OURS;
    },
    "has been voided": async (world) => {
      const { payment } = await world.imported("k", OURS, asMerchant("acme"));
      await world.void(payment.facts.id, "v");
      return OURS;
    },
    "is not decided yet": async (world) => {
      world.answer = async () => ({ outcome: "undecided", merchant: "acme", reason: "processing" });
      return OURS;
    },
    "cannot be captured": async (world) => {
      world.answer = async () => ({ outcome: "not_capturable", merchant: null, reason: "canceled" });
      return OURS;
    },
    "has ended": async (world) => {
      world.answer = found({ expiresAt: world.clock.now() });
      return OURS;
    },
    "was made by this service for another merchant": async (world) =>
      (await world.payment(await world.authorize())).facts.authorizationReference ?? "",
  };
  const refusalOf = async (world: ImportWorld, reference: string) => {
    const error: unknown = await world
      .imported("k", reference, asMerchant("stranger"))
      .catch((thrown) => thrown);
    if (!(error instanceof PaymentError)) throw new Error(`not refused: ${JSON.stringify(error)}`);
    return { code: error.code, message: error.message, facts: error.facts };
  };

  test.each(Object.entries(made))(
    "to a stranger, one that %s is one that does not exist, in the same words",
    async (_state, make) => {
      const world = new ImportWorld();
      const reference = await make(world);
      const refusal = await refusalOf(world, reference);
      const none = await refusalOf(new ImportWorld(), "ext_nothing");
      const named = (text: string) =>
        JSON.parse(JSON.stringify(none).replaceAll("ext_nothing", text)) as unknown;
      expect(refusal).toEqual(named(reference));
      expect(refusal.code).toBe("authorization_not_found");
      const { data } = await world.context.payments.list({ merchant: parseMerchantId("stranger"), limit: 1 });
      expect(data).toEqual([]);
    },
  );
});

describe("the gateway", () => {
  test("the gateway that knows no such authorization", async () => {
    expect(await codeOf(new ImportWorld().imported("k", "ext_nothing"))).toBe("authorization_not_found");
  });

  test("the gateway that holds no money under it any more", async () => {
    const world = new ImportWorld();
    const { payment } = await world.imported();
    await world.capture(payment.facts.id, "c");
    expect(await codeOf(world.imported("other"))).toBe("authorization_not_capturable");
  });

  test.each([
    [
      "does not know what it is asked",
      async (): Promise<LookupAnswer> => ({ outcome: "unknown", reason: "?" }),
    ],
    ["breaks its contract", () => Promise.reject(new Error("a defect"))],
  ])("that %s is not reached: nothing is stored, and the same key may try again", async (_, answer) => {
    const world = new ImportWorld();
    world.answer = answer;
    expect(await codeOf(world.imported())).toBe("gateway_unavailable");
    world.answer = undefined;
    expect(await codeOf(world.imported())).toBe("succeeded");
  });
});

describe("the authorization's end", () => {
  const inHours = (hours: number) => new Date(Date.parse("2026-03-01T12:00:00.000Z") + hours * HOUR);

  test.each([
    ["a week, if nobody says", null, undefined, inHours(168)],
    ["what the gateway says", inHours(500), undefined, inHours(500)],
    ["what the caller says", null, 3_600, inHours(1)],
    ["the caller's, if it is the earlier one", inHours(500), 3_600, inHours(1)],
    ["the gateway's, if it is the earlier one", inHours(1), 7_200, inHours(1)],
  ])("the authorization's end is %s", async (_, gateway, expires, expected) => {
    const world = new ImportWorld();
    world.answer = found({ expiresAt: gateway });
    const { payment } = await world.imported("k", REFERENCE, expires === undefined ? {} : { expires });
    expect(payment.facts.expiresAt).toEqual(expected);
  });

  test("the authorization's end that has come already leaves nothing to capture", async () => {
    const world = new ImportWorld();
    world.answer = found({ expiresAt: inHours(0) });
    expect(await codeOf(world.imported())).toBe("authorization_not_capturable");
  });
});

test("an authorization of ours that turns out to be another payment's goes to a person, and is not captured", async () => {
  const world = new ImportWorld();
  await world.imported();
  world.gateway.next("authorize", async () => ({ outcome: "succeeded", reference: REFERENCE }));
  const id = await world.authorize();
  const payment = await world.payment(id);
  expect(payment.facts).toMatchObject({ status: "authorizing", authorizationReference: null });
  expect(openOperationOf(payment)?.status).toBe("needs_review");
  expect(await codeOf(world.capture(id, "c"))).toBe("authorize_in_progress");
});
