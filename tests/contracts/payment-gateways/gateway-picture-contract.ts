import { randomUUID } from "node:crypto";
import type { PictureAnswer } from "../../../src/application/ports/payment-gateway";
import { money, parseCurrency } from "../../../src/domain/money";
import type { OperationKind } from "../../../src/domain/payment/operation";
import type { GatewayUnderTest, PaymentGatewayHarness, Situation } from "./payment-gateway-harness";

const EUR = parseCurrency("EUR");
const amount = money(5_000n, EUR);

/** A payment at the gateway, without a service that keeps one. */
interface Scene {
  readonly reference: string;
  send(
    kind: Exclude<OperationKind, "authorize">,
    units?: bigint,
    timeoutMs?: number,
  ): Promise<{ operationId: string; outcome: string }>;
  picture(change?: { authorizationReference?: string; amount?: typeof amount }): Promise<PictureAnswer>;
  moves(): Promise<readonly { readonly kind: OperationKind; readonly amount: bigint }[]>;
}

/** What a gateway that draws pictures promises, for all that can be done with a payment, by us and by others. */
export function describeGatewayPictureContract(harness: PaymentGatewayHarness): void {
  describe(`the contract of gateways' pictures, kept by ${harness.name}`, () => {
    let under: GatewayUnderTest;
    beforeEach(async () => {
      under = await harness.start();
    });
    afterEach(() => under.stop());

    const seen = (picture: object) => ({ outcome: "seen", picture: expect.objectContaining(picture) });

    it("a picture of an authorization that nobody has used is open, and nothing else", async () => {
      const { picture } = await scene(under);
      expect(await picture()).toEqual(
        seen({ authorization: "open", captured: null, cancellation: null, refunds: [], disputes: [] }),
      );
    });

    it("a picture of our own capture of a part names its operation, amount and reference", async () => {
      const { send, picture } = await scene(under);
      const { operationId } = await send("capture", 1_200n);
      expect(await picture()).toEqual(
        seen({
          authorization: "captured",
          captured: { operationId, amount: 1_200n, reference: expect.stringMatching(/./) },
        }),
      );
    });

    it("a picture of our own void shows the authorization cancelled, and by nobody else", async () => {
      const { send, picture } = await scene(under);
      const { operationId } = await send("void");
      const answer = await picture();
      expect(answer).toEqual(seen({ authorization: "cancelled", captured: null }));
      if (answer.outcome !== "seen") throw new Error("not seen");
      expect([{ operationId }, "unnamed"]).toContainEqual(answer.picture.cancellation?.by);
    });

    it("a picture shows each refund of ours with its operation, and refunds of which nothing came not at all", async () => {
      const { send, picture } = await scene(under);
      await send("capture");
      const first = await send("refund", 1_000n);
      const second = await send("refund", 1_500n);
      const answer = await picture();
      if (answer.outcome !== "seen") throw new Error("not seen");
      const refunds = answer.picture.refunds.map(({ operationId, state, amount: units }) => ({
        operationId,
        state,
        amount: units,
      }));
      expect(new Set(refunds)).toEqual(
        new Set([
          { operationId: first.operationId, state: "succeeded", amount: 1_000n },
          { operationId: second.operationId, state: "succeeded", amount: 1_500n },
        ]),
      );
      expect(new Set(answer.picture.refunds.map(({ reference }) => reference)).size).toBe(2);
    });

    it("a picture of an authorization that the gateway does not have is unknown", async () => {
      const { picture } = await scene(under);
      expect(await picture({ authorizationReference: "pi_0000" })).toMatchObject({ outcome: "unknown" });
    });

    it("drawing pictures moves nothing, however often", async () => {
      const { send, picture, moves } = await scene(under);
      await send("capture");
      const before = await moves();
      for (let time = 0; time < 5; time += 1) await picture();
      expect(await moves()).toEqual(before);
    });

    bring("capture", "silent_after_acting", "shows a capture whose answer was lost as ours", async (one) => {
      const { operationId, outcome } = await one.send("capture", 5_000n, 100);
      expect(outcome).toBe("unknown");
      expect(await one.picture()).toEqual(seen({ captured: expect.objectContaining({ operationId }) }));
    });

    bring("capture", "silent_before_acting", "shows nothing of a capture that was lost", async (one) => {
      await one.send("capture", 5_000n, 100);
      expect(await one.picture()).toEqual(seen({ authorization: "open", captured: null }));
    });

    bring("refund", "undecided", "shows a refund that is not decided yet as pending", async (one) => {
      await one.send("capture");
      const { operationId } = await one.send("refund");
      const refund = (state: string) => seen({ refunds: [expect.objectContaining({ operationId, state })] });
      expect(await one.picture()).toEqual(refund("pending"));
      await under.timePasses();
      expect(await one.picture()).toEqual(refund("succeeded"));
    });

    bring(
      "refund",
      "fails_later",
      "shows a refund that failed after it succeeded, with its reason",
      async (one) => {
        await one.send("capture");
        const { operationId } = await one.send("refund", 2_000n);
        await under.timePasses();
        const failed = { operationId, state: "failed", reason: expect.stringMatching(/./) };
        expect(await one.picture()).toEqual(seen({ refunds: [expect.objectContaining(failed)] }));
      },
    );

    bring(
      "capture",
      "authorization_gone",
      "shows an authorization that ended by itself as lapsed",
      async (one) => {
        await one.send("capture");
        expect(await one.picture()).toEqual(
          seen({ authorization: "lapsed", captured: null, cancellation: null }),
        );
      },
    );

    bring(
      "authorize",
      "captured_elsewhere_later",
      "shows a capture of others as nobody's of ours",
      async (one) => {
        expect(await one.picture()).toEqual(seen({ authorization: "open", captured: null }));
        await under.timePasses();
        const captured = { operationId: null, amount: 5_000n, reference: expect.stringMatching(/./) };
        expect(await one.picture()).toEqual(seen({ authorization: "captured", captured }));
      },
    );

    bring("authorize", "voided_elsewhere_later", "shows a cancellation of others", async (one) => {
      await under.timePasses();
      const answer = await one.picture();
      expect(answer).toEqual(seen({ authorization: "cancelled", captured: null }));
      if (answer.outcome !== "seen") throw new Error("not seen");
      expect(["others", "unnamed"]).toContain(answer.picture.cancellation?.by);
    });

    bring("capture", "refunded_elsewhere_later", "shows a refund of others beside ours", async (one) => {
      await one.send("capture");
      const { operationId } = await one.send("refund", 1_000n);
      await under.timePasses();
      const answer = await one.picture();
      if (answer.outcome !== "seen") throw new Error("not seen");
      const refunds = answer.picture.refunds.map((refund) => [
        refund.operationId,
        refund.amount,
        refund.state,
      ]);
      expect(new Set(refunds)).toEqual(
        new Set([
          [operationId, 1_000n, "succeeded"],
          [null, 2_500n, "succeeded"],
        ]),
      );
    });

    bring(
      "capture",
      "disputed_later",
      "shows a dispute, with its amount and the time for an answer",
      async (one) => {
        await one.send("capture", 4_000n);
        expect(await one.picture()).toEqual(seen({ disputes: [] }));
        await under.timePasses();
        const dispute = {
          id: expect.stringMatching(/./),
          status: "needs_response",
          amount: 4_000n,
          reason: "fraudulent",
          dueBy: expect.any(Date),
        };
        expect(await one.picture()).toEqual(seen({ disputes: [dispute] }));
      },
    );

    function bring(
      kind: OperationKind,
      situation: Situation,
      promise: string,
      test: (scene: Scene) => Promise<void>,
    ): void {
      if (!harness.canBring(kind, situation)) throw new Error(`${harness.name} cannot bring ${situation}`);
      it(`a picture ${promise}`, async () => test(await scene(under, kind, situation)));
    }
  });
}

async function scene(
  { gateway, moves, paymentMethod }: GatewayUnderTest,
  kind?: OperationKind,
  situation?: Situation,
): Promise<Scene> {
  const paymentId = randomUUID();
  const fresh = () => ({
    gatewayKey: randomUUID(),
    operationId: randomUUID(),
    paymentId,
    amount,
    timeoutMs: 5_000,
  });
  const authorized = await gateway.authorize({ ...fresh(), paymentMethod: paymentMethod(kind, situation) });
  if (authorized.outcome !== "succeeded") throw new Error(`not authorized: ${JSON.stringify(authorized)}`);
  const { reference } = authorized;
  return {
    reference,
    send: async (movement, units = amount.amount, timeoutMs = 5_000) => {
      const request = { ...fresh(), amount: money(units, EUR), authorizationReference: reference, timeoutMs };
      const { outcome } = await gateway[movement](request);
      return { operationId: request.operationId, outcome };
    },
    picture: async (change = {}) => {
      const request = { paymentId, amount, authorizationReference: reference, timeoutMs: 5_000, ...change };
      if (gateway.picture === undefined) throw new Error("it draws no pictures");
      return gateway.picture(request);
    },
    moves: () => moves(paymentId),
  };
}
