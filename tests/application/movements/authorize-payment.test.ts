import { visibleStatus, amountCaptured, amountCapturable } from "../../../src/domain/payment/payment";
import { AuthorizePayment } from "../../../src/application/use-cases/authorize-payment";
import type { AuthorizePaymentCommand } from "../../../src/application/use-cases/authorize-payment";
import type { OperationOutcome } from "../../../src/application/operations/operation-outcome";
import type { Caller } from "../../../src/application/operations/caller";
import { StoreUnavailableError } from "../../../src/application/ports/payment-repository";
import { parseIdempotencyKey, parseMerchantId } from "../../../src/domain/identifiers";
import { money, parseCurrency } from "../../../src/domain/money";
import type { PaymentError } from "../../../src/domain/payment/errors";
import { MemoryLockProvider } from "../../../src/infrastructure/locking/memory/memory-lock-provider";
import { NoOpLockProvider } from "../../../src/infrastructure/locking/none/no-op-lock-provider";
import { InMemoryPaymentRepository } from "../../../src/infrastructure/persistence/memory/in-memory-payment-repository";
import { Gate } from "../../support/fakes/gate";
import { codeOf, PaymentsWorld } from "../../support/worlds/payments-world";

function authorize(
  world: PaymentsWorld,
  key: string,
  wish: Partial<AuthorizePaymentCommand> = {},
  caller: Partial<Caller> = {},
): Promise<OperationOutcome> {
  return new AuthorizePayment(world.locks, world.context).execute(
    {
      idempotencyKey: parseIdempotencyKey(key),
      amount: money(1_000n, parseCurrency("EUR")),
      paymentMethod: "tok_ok",
      reference: null,
      metadata: {},
      expiresInSeconds: 3_600,
      ...wish,
    },
    world.caller(caller),
  );
}

async function movesOf(world: PaymentsWorld, { payment }: OperationOutcome): Promise<string[]> {
  return (await world.simulated.moves(payment.facts.id)).map(({ kind }) => kind);
}

describe("an authorization", () => {
  test("reserves the money once, until an instant that counts from the request", async () => {
    const world = new PaymentsWorld();
    const begun = world.clock.now();
    const outcome = await authorize(world, "k", { reference: "order 7", metadata: { shop: "12" } });
    const { facts } = outcome.payment;
    expect(outcome.operation).toMatchObject({ kind: "authorize", status: "succeeded", amount: 1_000n });
    expect(facts).toMatchObject({ status: "authorized", reference: "order 7", metadata: { shop: "12" } });
    expect(facts.expiresAt).toEqual(new Date(begun.getTime() + 3_600_000));
    expect(amountCapturable(outcome.payment)).toBe(1_000n);
    expect(await movesOf(world, outcome)).toEqual(["authorize"]);
  });

  test("an authorization with the same key again is the same payment, also when that has gone on", async () => {
    const world = new PaymentsWorld();
    const first = await authorize(world, "k");
    await world.capture(first.payment.facts.id, "capture");
    const again = await authorize(world, "k");
    expect(again.replayed).toBe(true);
    expect(again.operation).toEqual(first.operation);
    expect(again.payment.facts.status).toBe("authorized");
    expect(amountCaptured(again.payment)).toBe(0n);
    expect(world.gateway.calls).toEqual(["authorize", "capture"]);
  });

  test.each<[string, Partial<AuthorizePaymentCommand>]>([
    ["amount", { amount: money(1_001n, parseCurrency("EUR")) }],
    ["currency", { amount: money(1_000n, parseCurrency("USD")) }],
    ["payment method", { paymentMethod: "tok_other" }],
    ["reference", { reference: "another" }],
    ["metadata", { metadata: { a: "1" } }],
    ["expiry", { expiresInSeconds: 60 }],
  ])("an authorization is refused for a key that asked for another %s", async (_what, other) => {
    const world = new PaymentsWorld();
    await authorize(world, "k");
    expect(await codeOf(authorize(world, "k", other))).toBe("idempotency_key_reused");
    expect(world.gateway.calls).toEqual(["authorize"]);
  });

  test("an authorization does not care in which order its metadata was written", async () => {
    const world = new PaymentsWorld();
    const first = await authorize(world, "k", { metadata: { a: "1", b: "2" } });
    const again = await authorize(world, "k", { metadata: { b: "2", a: "1" } });
    expect(again.payment.facts.id).toBe(first.payment.facts.id);
  });

  test("an authorization of another merchant with the same key is another payment", async () => {
    const world = new PaymentsWorld();
    const ours = await authorize(world, "k");
    const theirs = await authorize(world, "k", {}, { merchant: parseMerchantId("other") });
    expect(theirs.payment.facts.id).not.toBe(ours.payment.facts.id);
    expect(theirs.replayed).toBe(false);
  });

  test("an authorization that is declined says so, and again to the same key; a new key may try again", async () => {
    const world = new PaymentsWorld();
    const refusal = (await authorize(world, "k", { paymentMethod: "tok_decline" }).catch(
      (error: unknown) => error,
    )) as PaymentError<"authorization_declined">;
    expect(refusal).toMatchObject({ code: "authorization_declined", replayed: false });
    const again = (await authorize(world, "k", { paymentMethod: "tok_decline" }).catch(
      (error: unknown) => error,
    )) as PaymentError<"authorization_declined">;
    expect(again).toMatchObject({ code: "authorization_declined", replayed: true, facts: refusal.facts });
    expect(world.gateway.calls).toEqual(["authorize"]);
    expect(await codeOf(authorize(world, "other"))).toBe("succeeded");
  });
});

describe("two requests with one key at once", () => {
  /** Both have found that the key is new before either of them has stored anything. */
  async function race(world: PaymentsWorld, wishes: readonly Partial<AuthorizePaymentCommand>[]) {
    const { payments } = world.context;
    const bothLooked = new Gate();
    let looks = 0;
    Object.assign(world.context, {
      payments: new Proxy(payments, {
        get: (target, name) => {
          const member: unknown = Reflect.get(target, name, target);
          if (typeof member !== "function") return member;
          if (name !== "findByAuthorizeKey") return member.bind(target) as unknown;
          return async (...args: unknown[]) => {
            const found: unknown = await Reflect.apply(member, target, args);
            looks += 1;
            if (looks === wishes.length) bothLooked.open();
            await bothLooked.passed;
            return found;
          };
        },
      }),
    });
    return Promise.allSettled(wishes.map((wish) => authorize(world, "k", wish)));
  }

  test.each([
    ["in-memory lock", () => new MemoryLockProvider()],
    ["lock switched off", () => new NoOpLockProvider()],
  ])("reserve once: the loser of the insert takes the winner's answer (%s)", async (_name, locks) => {
    const world = new PaymentsWorld({ locks: locks() });
    const answers = await race(world, [{}, {}, {}]);
    const outcomes = answers.map((answer) => {
      if (answer.status === "rejected") throw answer.reason;
      return answer.value;
    });
    expect(new Set(outcomes.map(({ payment }) => payment.facts.id)).size).toBe(1);
    for (const { operation } of outcomes) expect(operation).toMatchObject({ status: "succeeded" });
    expect(await movesOf(world, outcomes[0]!)).toEqual(["authorize"]);
  });

  test("two requests with one key at once that ask for different things: one is served, the other told that the key is taken", async () => {
    const world = new PaymentsWorld({ locks: new MemoryLockProvider() });
    const answers = await race(world, [{}, { amount: money(5n, parseCurrency("EUR")) }]);
    const codes = answers.map((answer) =>
      answer.status === "rejected" ? (answer.reason as PaymentError).code : answer.value.operation.status,
    );
    expect(codes.sort()).toEqual(["idempotency_key_reused", "succeeded"]);
    expect(world.gateway.calls).toEqual(["authorize"]);
  });
});

describe("a gateway that", () => {
  test.each([
    ["tok_authorize_timeout_captured", "unknown"],
    ["tok_authorize_timeout_not_captured", "unknown"],
    ["tok_authorize_error_500", "unknown"],
    ["tok_authorize_late_60000", "unknown"],
    ["tok_authorize_processing", "pending"],
  ])("answers an authorization with %s leaves it %s, and it is found out", async (paymentMethod, status) => {
    const world = new PaymentsWorld();
    const first = await authorize(world, "k", { paymentMethod });
    expect(first.operation.status).toBe(status);
    expect(visibleStatus(first.payment)).toBe("authorizing");
    expect(await codeOf(world.capture(first.payment.facts.id, "capture"))).toBe("authorize_in_progress");
    for (let pass = 0; pass < 4; pass += 1) {
      world.clock.advance(150_000);
      await world.reconcile();
    }
    expect(world.errors).toEqual([]);
    const again = await authorize(world, "k", { paymentMethod });
    expect(again).toMatchObject({ operation: { id: first.operation.id, status: "succeeded" } });
    expect(await movesOf(world, again)).toEqual(["authorize"]);
    expect(await codeOf(world.capture(first.payment.facts.id, "capture"))).toBe("succeeded");
  });

  test("a gateway that cannot be reached leaves the key free to try again on the same payment", async () => {
    const world = new PaymentsWorld();
    const wish = { paymentMethod: "tok_authorize_unreachable" };
    const refusal = (await authorize(world, "k", wish).catch((error: unknown) => error)) as PaymentError;
    expect(refusal.code).toBe("gateway_unavailable");
    expect(await codeOf(authorize(world, "k"))).toBe("idempotency_key_reused");
    const again = await authorize(world, "k", wish);
    expect(again).toMatchObject({ replayed: false, operation: { status: "succeeded" } });
    expect(refusal.facts).toMatchObject({ paymentId: again.payment.facts.id });
    expect(await movesOf(world, again)).toEqual(["authorize"]);
  });

  test("a gateway that cannot be reached leaves nothing for the reconciler", async () => {
    const world = new PaymentsWorld();
    await codeOf(authorize(world, "k", { paymentMethod: "tok_authorize_unreachable" }));
    world.clock.advance(24 * 3_600_000);
    expect(await world.reconcile()).toEqual({ done: 0, skipped: 0, failed: 0 });
    expect(world.gateway.calls).toEqual(["authorize"]);
  });

  test("a gateway that answers only after the authorization's end still leaves a payment that is released, not captured", async () => {
    const world = new PaymentsWorld();
    const { payment } = await authorize(world, "k", {
      paymentMethod: "tok_authorize_timeout_captured",
      expiresInSeconds: 60,
    });
    world.clock.advance(60_000);
    await world.reconcile();
    expect((await world.payment(payment.facts.id)).facts.status).toBe("authorized");
    expect(await codeOf(world.capture(payment.facts.id, "capture"))).toBe("payment_expired");
    await world.reconcile();
    expect((await world.simulated.moves(payment.facts.id)).map(({ kind }) => kind)).toEqual([
      "authorize",
      "void",
    ]);
  });
});

test("a store that is down from the start is told, and nothing was sent", async () => {
  class Down extends InMemoryPaymentRepository {
    override async save(): Promise<never> {
      throw new StoreUnavailableError("down");
    }
  }
  const world = new PaymentsWorld({ payments: new Down() });
  expect(await codeOf(authorize(world, "k"))).toBe("service_unavailable");
  expect(world.gateway.calls).toEqual([]);
});

test("a caller who has hung up before it began has begun nothing", async () => {
  const world = new PaymentsWorld({ locks: new MemoryLockProvider() });
  const gone = AbortSignal.abort();
  expect(await codeOf(authorize(world, "k", {}, { signal: gone }))).toBe("wait_cancelled");
  expect(world.gateway.calls).toEqual([]);
  expect(await codeOf(authorize(world, "k"))).toBe("succeeded");
});
