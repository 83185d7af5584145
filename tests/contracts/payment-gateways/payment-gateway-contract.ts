import { randomUUID } from "node:crypto";

import type {
  FindRequest,
  GatewayAnswer,
  MovementRequest,
} from "../../../src/application/ports/payment-gateway";
import { money, parseCurrency, type Money } from "../../../src/domain/money";
import type { OperationKind } from "../../../src/domain/payment/operation";
import type { GatewayUnderTest, PaymentGatewayHarness, Situation } from "./payment-gateway-harness";

const kinds: readonly OperationKind[] = ["authorize", "capture", "void", "refund"];
const amount = money(5_000n, parseCurrency("EUR"));

/** A payment that is ready for one operation, which may be sent as often as a test likes. */
interface Scene {
  readonly under: GatewayUnderTest;
  readonly paymentId: string;
  readonly request: MovementRequest & { readonly paymentMethod: string };
  send(change?: Partial<MovementRequest>): Promise<GatewayAnswer>;
  find(change?: Partial<FindRequest>): ReturnType<GatewayUnderTest["gateway"]["find"]>;
  /** How often money moved in the way of this operation. */
  moved(): Promise<number>;
}

/** The port's MUST sentences, each as a test, for every kind of operation. */
export function describePaymentGatewayContract(harness: PaymentGatewayHarness): void {
  describe(`the contract of payment gateways, kept by ${harness.name}`, () => {
    let under: GatewayUnderTest;
    beforeEach(async () => {
      under = await harness.start();
    });
    afterEach(() => under.stop());

    it("a payment gateway remembers its keys for a time that can be added to a date", () => {
      expect(under.gateway.remembersKeysForMs).toBeGreaterThan(0);
      expect(new Date(Date.now() + under.gateway.remembersKeysForMs).getTime()).not.toBeNaN();
    });

    it.each(["acme", null])(
      "an authorization made elsewhere says whose it is, before and after it is captured: %p",
      async (merchant) => {
        const reference = await under.madeElsewhere(merchant);
        const look = () => under.gateway.lookupAuthorization({ reference, timeoutMs: 2_000 });
        expect(await look()).toMatchObject({
          outcome: "found",
          merchant,
          authorization: { reference, amount, paymentId: null },
        });
        const paymentId = randomUUID();
        expect(await under.moves(paymentId)).toEqual([]);
        const request = { gatewayKey: "c.1", operationId: "c", paymentId, amount, timeoutMs: 5_000 };
        await under.gateway.capture({ ...request, authorizationReference: reference });
        expect(await look()).toMatchObject({ outcome: "not_capturable", merchant });
      },
    );

    it("an authorization of ours names no merchant that could take it over", async () => {
      const { request } = await ready(under, "capture");
      const reference = request.authorizationReference;
      expect(await under.gateway.lookupAuthorization({ reference, timeoutMs: 2_000 })).toMatchObject({
        outcome: "found",
        merchant: null,
      });
    });

    it("a capture of a part moves that part, and lets go of the rest", async () => {
      const scene = await ready(under, "capture");
      const { authorizationReference } = scene.request;
      expect(await under.reserved(scene.paymentId, authorizationReference)).toBe(5_000n);
      expect(await scene.send({ amount: eur(1_200n) })).toMatchObject({ outcome: "succeeded" });
      expect(await under.moves(scene.paymentId)).toContainEqual({ kind: "capture", amount: 1_200n });
      expect(await under.reserved(scene.paymentId, authorizationReference)).toBe(0n);
    });

    it("a void lets go of everything", async () => {
      const scene = await ready(under, "void");
      await scene.send();
      expect(await under.reserved(scene.paymentId, scene.request.authorizationReference)).toBe(0n);
    });

    it("several refunds under keys of their own each move their part", async () => {
      const scene = await ready(under, "refund");
      for (const part of [1_000n, 1_500n]) {
        const own = { gatewayKey: randomUUID(), operationId: randomUUID(), amount: eur(part) };
        expect(await scene.send(own)).toMatchObject({ outcome: "succeeded" });
      }
      const refunds = (await under.moves(scene.paymentId)).filter(({ kind }) => kind === "refund");
      expect(refunds.map((move) => move.amount)).toEqual([1_000n, 1_500n]);
    });

    it("a capture above the authorized amount is declined and moves nothing", async () => {
      const scene = await ready(under, "capture");
      expect(await scene.send({ amount: eur(5_001n) })).toMatchObject({ outcome: "declined" });
      expect(await scene.moved()).toBe(0);
    });

    it.each(["capture", "void"] as const)(
      "any %s of a voided authorization is told that it is gone, and moves nothing",
      async (kind) => {
        const scene = await ready(under, kind);
        const other = { ...scene.request, gatewayKey: randomUUID(), operationId: randomUUID() };
        await under.gateway.void(other);
        const before = await scene.moved();
        expect(await scene.send()).toMatchObject({ outcome: "authorization_gone" });
        expect(await scene.moved()).toBe(before);
      },
    );

    it("a void of a captured authorization is a mismatch: the money was taken, as the reference shows", async () => {
      const scene = await ready(under, "void");
      const other = { ...scene.request, gatewayKey: randomUUID(), operationId: randomUUID() };
      await under.gateway.capture(other);
      const captured = {
        outcome: "mismatch",
        evidence: expect.stringContaining("captured"),
        reference: expect.stringMatching(/./),
        captured: true,
      };
      expect(await scene.send()).toEqual(captured);
      expect(await scene.send()).toEqual(captured);
      expect(await scene.find()).toEqual(captured);
      expect(await scene.moved()).toBe(0);
    });

    each(
      "captured_elsewhere",
      "of what somebody has captured in the meantime is a mismatch, and lets nothing go",
      async (scene) => {
        expect(await scene.send()).toMatchObject({ outcome: "mismatch", reference: expect.any(String) });
        expect(await scene.find()).toMatchObject({ outcome: "mismatch" });
        expect(await under.moves(scene.paymentId)).toContainEqual({ kind: "capture", amount: 5_000n });
        expect(await scene.moved()).toBe(0);
      },
    );

    it("an authorize with an unknown payment method is declined", async () => {
      const scene = await ready(under, "authorize", undefined, "no-such-thing");
      expect(await scene.send()).toMatchObject({ outcome: "declined" });
      expect(await scene.moved()).toBe(0);
    });

    it.each(kinds)("any %s that succeeds moves money once and has a reference", async (kind) => {
      const scene = await ready(under, kind);
      const answer = await scene.send();
      expect(answer).toMatchObject({ outcome: "succeeded", reference: expect.stringMatching(/./) });
      expect(await scene.moved()).toBe(1);
      expect(await under.moves(scene.paymentId)).toContainEqual({ kind, amount: 5_000n });
    });

    it.each(kinds)("any %s sent again under its key gets the same answer and moves nothing", async (kind) => {
      const scene = await ready(under, kind);
      const first = await scene.send();
      expect(await scene.send()).toEqual(first);
      expect(await scene.moved()).toBe(1);
    });

    it.each(kinds)("any %s sent ten times at once under one key moves money once", async (kind) => {
      const scene = await ready(under, kind);
      const answers = await Promise.all(Array.from({ length: 10 }, () => scene.send()));
      expect(await scene.moved()).toBe(1);
      for (const answer of answers) expect(["succeeded", "unknown"]).toContain(answer.outcome);
      expect(await scene.send()).toMatchObject({ outcome: "succeeded" });
      expect(await scene.moved()).toBe(1);
    });

    it.each(kinds)("any %s key that never came is absent, and asking moves nothing", async (kind) => {
      const scene = await ready(under, kind);
      expect(await scene.find()).toEqual({ outcome: "absent" });
      expect(await scene.moved()).toBe(0);
    });

    it.each(kinds)("any %s that succeeded is found, with its reference", async (kind) => {
      const scene = await ready(under, kind);
      const answer = await scene.send();
      const expected = kind === "authorize" && !harness.findsAuthorizations ? { outcome: "absent" } : answer;
      expect(await scene.find()).toEqual(expected);
      expect(await scene.moved()).toBe(1);
    });

    it.each(kinds)(
      "any %s key sent again with another amount moves nothing and is no answer to the key",
      async (kind) => {
        const scene = await ready(under, kind);
        await scene.send();
        const { outcome } = await scene.send({ amount: eur(4_999n) });
        expect(["unknown", "mismatch"]).toContain(outcome);
        expect(await scene.moved()).toBe(1);
      },
    );

    it.each(["capture", "refund"] as const)(
      "any %s found with another amount is a mismatch for a person to look at",
      async (kind) => {
        const scene = await ready(under, kind);
        await scene.send();
        expect(await scene.find({ amount: eur(4_999n) })).toMatchObject({
          outcome: "mismatch",
          evidence: expect.stringMatching(/./),
        });
      },
    );

    each("refused", "is declined for good: asked again, the key says the same", async (scene, kind) => {
      const declined = { outcome: "declined", reason: expect.stringMatching(/./) };
      expect(await scene.send()).toEqual(declined);
      expect(await scene.send()).toEqual(declined);
      expect(await scene.find()).toEqual(harness.findsRefusals(kind) ? declined : { outcome: "absent" });
      expect(await scene.moved()).toBe(0);
    });

    each(
      "authorization_gone",
      "that finds its authorization gone is told so, and so is a resend",
      async (scene) => {
        expect(await scene.send()).toMatchObject({ outcome: "authorization_gone" });
        expect(await scene.send()).toMatchObject({ outcome: "authorization_gone" });
        expect(await scene.moved()).toBe(0);
      },
    );

    for (const situation of ["silent_after_acting", "reset_after_acting", "nonsense_after_acting"] as const) {
      each(
        situation,
        `is unknown, not failed, when it is ${words(situation)}; the key finds out`,
        async (scene, kind) => {
          expect(await scene.send({ timeoutMs: 100 })).toMatchObject({ outcome: "unknown" });
          expect(await scene.moved()).toBe(1);
          if (kind !== "authorize" || harness.findsAuthorizations) {
            expect(await scene.find()).toMatchObject({ outcome: "succeeded" });
          }
          expect(await scene.send()).toMatchObject({ outcome: "succeeded" });
          expect(await scene.moved()).toBe(1);
        },
      );
    }

    for (const situation of ["silent_before_acting", "reset_before_acting", "server_error"] as const) {
      each(
        situation,
        `is unknown when it is ${words(situation)}, and absent; a resend carries it out`,
        async (scene) => {
          expect(await scene.send({ timeoutMs: 100 })).toMatchObject({ outcome: "unknown" });
          expect(await scene.find()).toEqual({ outcome: "absent" });
          expect(await scene.moved()).toBe(0);
          expect(await scene.send()).toMatchObject({ outcome: "succeeded" });
          expect(await scene.moved()).toBe(1);
        },
      );
    }

    each(
      "unreachable",
      "is not sent when nothing reached the gateway; the key may try again",
      async (scene) => {
        expect(await scene.send()).toMatchObject({ outcome: "not_sent" });
        expect(await scene.moved()).toBe(0);
        expect(await scene.send()).toMatchObject({ outcome: "succeeded" });
        expect(await scene.moved()).toBe(1);
      },
    );

    each(
      "stored_server_error",
      "whose key answers 500 for ever stays unknown and never moves money",
      async (scene) => {
        for (let sent = 0; sent < 3; sent++) expect(await scene.send()).toMatchObject({ outcome: "unknown" });
        expect(["unknown", "absent"]).toContain((await scene.find()).outcome);
        expect(await scene.moved()).toBe(0);
      },
    );

    each(
      "stored_server_error_after_acting",
      "that acted and answers 500 for ever is found by what it did, where it can be found",
      async (scene, kind) => {
        for (let sent = 0; sent < 2; sent++) expect(await scene.send()).toMatchObject({ outcome: "unknown" });
        if (kind !== "authorize" || harness.findsAuthorizations) {
          expect(await scene.find()).toMatchObject({ outcome: "succeeded" });
        }
        expect(await scene.moved()).toBe(1);
      },
    );

    each("lands_late", "that lands late is absent before, and found after", async (scene, kind) => {
      expect(await scene.send({ timeoutMs: 100 })).toMatchObject({ outcome: "unknown" });
      expect(await scene.find()).toEqual({ outcome: "absent" });
      await under.timePasses();
      if (kind !== "authorize" || harness.findsAuthorizations) {
        expect(await scene.find()).toMatchObject({ outcome: "succeeded" });
      }
      expect(await scene.moved()).toBe(1);
    });

    each("lands_late", "that is sent again before it lands moves money once", async (scene) => {
      await scene.send({ timeoutMs: 100 });
      expect(await scene.send()).toMatchObject({ outcome: "succeeded" });
      await under.timePasses();
      expect(await scene.send()).toMatchObject({ outcome: "succeeded" });
      expect(await scene.moved()).toBe(1);
    });

    each("fails_later", "that fails after it succeeded is found as it is by then", async (scene) => {
      expect(await scene.send()).toMatchObject({ outcome: "succeeded" });
      expect(await scene.find()).toMatchObject({ outcome: "succeeded" });
      await under.timePasses();
      expect(await scene.find()).toMatchObject({ outcome: "declined" });
      expect(await scene.moved()).toBe(1);
    });

    each(
      "undecided",
      "that is not decided yet is pending, sent again or not, and later succeeds",
      async (scene, kind) => {
        expect(await scene.send()).toMatchObject({ outcome: "unknown" });
        expect(await scene.send()).toMatchObject({ outcome: "unknown" });
        const findable = kind !== "authorize" || harness.findsAuthorizations;
        if (findable) expect(await scene.find()).toEqual({ outcome: "pending" });
        expect(await scene.moved()).toBe(0);
        await under.timePasses();
        if (findable) expect(await scene.find()).toMatchObject({ outcome: "succeeded" });
        expect(await scene.moved()).toBe(1);
      },
    );

    each("too_slow", "is given up, as unknown, when the caller's patience ends", async (scene) => {
      expect(await scene.send({ timeoutMs: 20 })).toMatchObject({ outcome: "unknown" });
    });

    /** One test for each kind of operation in which the harness can bring the situation about. */
    function each(
      situation: Situation,
      promise: string,
      test: (scene: Scene, kind: OperationKind) => Promise<void>,
    ): void {
      for (const kind of kinds.filter((candidate) => harness.canBring(candidate, situation))) {
        it(`any ${kind} ${promise}`, async () => test(await ready(under, kind, situation), kind));
      }
    }
  });
}

async function ready(
  under: GatewayUnderTest,
  kind: OperationKind,
  situation?: Situation,
  paymentMethod = under.paymentMethod(kind, situation),
): Promise<Scene> {
  const { gateway } = under;
  const paymentId = randomUUID();
  const fresh = () => ({
    gatewayKey: randomUUID(),
    operationId: randomUUID(),
    paymentId,
    amount,
    timeoutMs: 5_000,
  });
  let authorizationReference = "";
  if (kind !== "authorize") {
    const authorized = await gateway.authorize({ ...fresh(), paymentMethod });
    if (authorized.outcome !== "succeeded") throw new Error(`not authorized: ${JSON.stringify(authorized)}`);
    authorizationReference = authorized.reference;
  }
  if (kind === "refund") {
    const captured = await gateway.capture({ ...fresh(), authorizationReference });
    if (captured.outcome !== "succeeded") throw new Error(`not captured: ${JSON.stringify(captured)}`);
  }
  const request = { ...fresh(), authorizationReference, paymentMethod };
  return {
    under,
    paymentId,
    request,
    send: (change) =>
      kind === "authorize"
        ? gateway.authorize({ ...request, ...change })
        : gateway[kind]({ ...request, ...change }),
    find: (change) =>
      gateway.find({
        ...request,
        kind,
        authorizationReference: kind === "authorize" ? null : authorizationReference,
        ...change,
      }),
    moved: async () => (await under.moves(paymentId)).filter((move) => move.kind === kind).length,
  };
}

function eur(minorUnits: bigint): Money {
  return money(minorUnits, amount.currency);
}

function words(situation: Situation): string {
  return situation.replaceAll("_", " ");
}
