import { strict as assert } from "node:assert";
import { randomUUID } from "node:crypto";
import type { LookupAnswer } from "../../../application/ports/authorization-lookup";
import type { GatewayContractTest, GatewayContractWorld } from "./contract-test";
import {
  AMOUNT,
  assertMoved,
  assertMovesOnceInTime,
  assertOutcome,
  assertSame,
  eur,
  inWords,
  kinds,
  ownKey,
  prepare,
  testsOf,
  timePasses,
} from "./scene";

const { one, each, meeting } = testsOf("can be found again");

const AFTER_ACTING = [
  "silent_after_acting",
  "reset_after_acting",
  "nonsense_after_acting",
  "stored_server_error_after_acting",
] as const;
const BEFORE_ACTING = ["silent_before_acting", "reset_before_acting", "server_error"] as const;

export const canBeFoundAgain: readonly GatewayContractTest[] = [
  ...each(kinds, "key that never came is absent, and asking moves nothing", async (scene) => {
    assertSame(await scene.find(), { outcome: "absent" });
    await assertMoved(scene, 0);
  }),

  ...each(kinds, "that succeeded is found, with the answer that it got", async (scene) => {
    const answer = await scene.send();
    assertSame(await scene.find(), answer);
    await assertMoved(scene, 1);
  }),

  ...each(
    ["capture", "refund"],
    "found with another amount is a mismatch for a person to look at",
    async (scene) => {
      await scene.send();
      const found = await scene.find({ amount: eur(AMOUNT - 1n) });
      assertOutcome(found, "mismatch");
      assert.ok("evidence" in found && found.evidence !== "", "a mismatch has evidence");
    },
  ),

  one("a void that finds the money captured is found as the mismatch that it was", async (world) => {
    const scene = await prepare(world, "void");
    await world.gateway.capture({ ...scene.request, ...ownKey() });
    const answer = await scene.send();
    assertSame(await scene.find(), answer);
  }),

  ...meeting(
    "captured_elsewhere",
    "of what somebody has captured in the meantime is found as a mismatch",
    async (scene) => {
      await scene.send();
      assertOutcome(await scene.find(), "mismatch");
    },
  ),

  ...meeting("refused", "that was refused is found so, or only its key knows", async (scene, kind) => {
    const answer = await scene.send();
    const known = scene.world.subject.findsRefusals?.(kind) ?? true;
    assertSame(await scene.find(), known ? answer : { outcome: "absent" });
    await assertMoved(scene, 0);
  }),

  ...AFTER_ACTING.flatMap((situation) =>
    meeting(situation, `that is ${inWords(situation)} is found by what it did`, async (scene) => {
      await scene.sendIntoSilence();
      await assertMovesOnceInTime(scene);
      assertOutcome(await scene.find(), "succeeded");
      await assertMoved(scene, 1);
    }),
  ),

  ...BEFORE_ACTING.flatMap((situation) =>
    meeting(situation, `that is ${inWords(situation)} is absent`, async (scene) => {
      await scene.sendIntoSilence();
      assertSame(await scene.find(), { outcome: "absent" });
      await assertMoved(scene, 0);
    }),
  ),

  ...meeting(
    "stored_server_error",
    "whose key answers 500 for ever is not found as anything",
    async (scene) => {
      await scene.send();
      assertOutcome(await scene.find(), "unknown", "absent");
    },
  ),

  ...meeting("lands_late", "that lands late is absent before, and found after", async (scene) => {
    await scene.sendIntoSilence();
    assertSame(await scene.find(), { outcome: "absent" });
    await timePasses(scene);
    assertOutcome(await scene.find(), "succeeded");
    await assertMoved(scene, 1);
  }),

  ...meeting("fails_later", "that fails after it succeeded is found as it is by then", async (scene) => {
    assertOutcome(await scene.send(), "succeeded");
    assertOutcome(await scene.find(), "succeeded");
    await timePasses(scene);
    assertOutcome(await scene.find(), "declined");
    await assertMoved(scene, 1);
  }),

  ...["acme", null].map((merchant) =>
    lookup(
      `an authorization made elsewhere for ${merchant ?? "nobody"} says so, before and after it is captured`,
      async (world) => {
        const { opened } = world;
        if (opened.madeElsewhere === undefined)
          throw new Error("looksUpAuthorizations needs madeElsewhere()");
        const reference = await opened.madeElsewhere(merchant);
        const found = await lookUp(world, reference);
        assert.ok(found.outcome === "found", `it had to be found, and the answer was ${found.outcome}`);
        assert.equal(found.merchant, merchant);
        const { amount, paymentId, reference: canonical } = found.authorization;
        assert.deepEqual(
          { amount, paymentId, canonical },
          { amount: eur(AMOUNT), paymentId: null, canonical: reference },
        );
        const payment = randomUUID();
        assert.equal((await opened.moves(payment)).length, 0);
        await world.gateway.capture({
          ...ownKey(),
          paymentId: payment,
          amount: eur(AMOUNT),
          timeoutMs: 5_000,
          authorizationReference: reference,
        });
        const after = await lookUp(world, reference);
        assert.equal(after.outcome, "not_capturable");
        assert.equal("merchant" in after ? after.merchant : undefined, merchant);
      },
    ),
  ),

  lookup("an authorization of ours names no merchant that could take it over", async (world) => {
    const { request } = await prepare(world, "capture");
    const found = await lookUp(world, request.authorizationReference);
    assert.equal(found.outcome, "found");
    assert.equal("merchant" in found ? found.merchant : undefined, null);
  }),
];

function lookup(name: string, run: (world: GatewayContractWorld) => Promise<void>): GatewayContractTest {
  return { ...one(name, run), needsLookup: true };
}

async function lookUp({ gateway }: GatewayContractWorld, reference: string): Promise<LookupAnswer> {
  if (gateway.lookupAuthorization === undefined)
    throw new Error("looksUpAuthorizations needs the method lookupAuthorization");
  return gateway.lookupAuthorization({ reference, timeoutMs: 2_000 });
}
