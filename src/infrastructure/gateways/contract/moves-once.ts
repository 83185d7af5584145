import { strict as assert } from "node:assert";
import type { GatewayContractTest } from "./contract-test";
import {
  AMOUNT,
  amountsMoved,
  assertMoved,
  assertOutcome,
  assertReference,
  assertSame,
  eur,
  kinds,
  ownKey,
  prepare,
  testsOf,
} from "./scene";

const { one, each, meeting } = testsOf("moves once");
const AT_ONCE = 10;

export const movesOnce: readonly GatewayContractTest[] = [
  ...each(kinds, "that succeeds moves money once and has a reference", async (scene, kind) => {
    const answer = await scene.send();
    assertOutcome(answer, "succeeded");
    assertReference(answer);
    await assertMoved(scene, 1);
    assert.deepEqual(await amountsMoved(scene, kind), [AMOUNT]);
  }),

  ...each(kinds, "sent again under its key gets the same answer and moves nothing", async (scene) => {
    const first = await scene.send();
    assertSame(await scene.send(), first);
    await assertMoved(scene, 1);
  }),

  ...each(kinds, "sent ten times at once under one key moves money once", async (scene) => {
    const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => scene.send()));
    await assertMoved(scene, 1);
    for (const answer of answers) assertOutcome(answer, "succeeded", "unknown");
    assertOutcome(await scene.send(), "succeeded");
    await assertMoved(scene, 1);
  }),

  ...each(
    kinds,
    "key sent again with another amount moves nothing and is no answer to the key",
    async (scene) => {
      await scene.send();
      assertOutcome(await scene.send({ amount: eur(AMOUNT - 1n) }), "unknown", "mismatch");
      await assertMoved(scene, 1);
    },
  ),

  one("a capture of a part moves that part, and lets go of the rest", async (world) => {
    const scene = await prepare(world, "capture");
    assert.equal(await scene.reserved(), AMOUNT);
    assertOutcome(await scene.send({ amount: eur(1_200n) }), "succeeded");
    assert.deepEqual(await amountsMoved(scene, "capture"), [1_200n]);
    assert.equal(await scene.reserved(), 0n);
  }),

  one("a capture above the authorized amount is declined and moves nothing", async (world) => {
    const scene = await prepare(world, "capture");
    assertOutcome(await scene.send({ amount: eur(AMOUNT + 1n) }), "declined");
    await assertMoved(scene, 0);
  }),

  one("a void lets go of everything", async (world) => {
    const scene = await prepare(world, "void");
    await scene.send();
    assert.equal(await scene.reserved(), 0n);
  }),

  one("several refunds under keys of their own each move their part", async (world) => {
    const scene = await prepare(world, "refund");
    for (const part of [1_000n, 1_500n])
      assertOutcome(await scene.send({ ...ownKey(), amount: eur(part) }), "succeeded");
    assert.deepEqual(await amountsMoved(scene, "refund"), [1_000n, 1_500n]);
  }),

  ...each(
    ["capture", "void"],
    "of a voided authorization is told that it is gone, and moves nothing",
    async (scene) => {
      await scene.world.gateway.void({ ...scene.request, ...ownKey() });
      const before = await scene.moved();
      assertOutcome(await scene.send(), "authorization_gone");
      await assertMoved(scene, before);
    },
  ),

  one(
    "a void of a captured authorization is a mismatch: the money was taken, as the reference shows",
    async (world) => {
      const scene = await prepare(world, "void");
      await world.gateway.capture({ ...scene.request, ...ownKey() });
      const first = await scene.send();
      assertOutcome(first, "mismatch");
      assertReference(first);
      assert.ok("captured" in first && first.captured);
      assert.match(first.evidence, /captured/);
      assertSame(await scene.send(), first);
      await assertMoved(scene, 0);
    },
  ),

  ...meeting(
    "captured_elsewhere",
    "of what somebody has captured in the meantime is a mismatch, and lets nothing go",
    async (scene) => {
      const answer = await scene.send();
      assertOutcome(answer, "mismatch");
      assertReference(answer);
      assert.deepEqual(await amountsMoved(scene, "capture"), [AMOUNT]);
      await assertMoved(scene, 0);
    },
  ),

  one("an authorize with an unknown payment method is declined", async (world) => {
    const scene = await prepare(world, "authorize", undefined, "no-such-thing");
    assertOutcome(await scene.send(), "declined");
    await assertMoved(scene, 0);
  }),

  ...meeting(
    "refused",
    "that is refused is declined for good: sent again, the key says the same",
    async (scene) => {
      const first = await scene.send();
      assertOutcome(first, "declined");
      assert.ok("reason" in first && first.reason !== "", "a refusal has a reason");
      assertSame(await scene.send(), first);
      await assertMoved(scene, 0);
    },
  ),

  ...meeting(
    "authorization_gone",
    "that finds its authorization gone is told so, and so is a resend",
    async (scene) => {
      assertOutcome(await scene.send(), "authorization_gone");
      assertOutcome(await scene.send(), "authorization_gone");
      await assertMoved(scene, 0);
    },
  ),
];
