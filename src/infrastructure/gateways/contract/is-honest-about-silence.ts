import { strict as assert } from "node:assert";
import type { GatewayContractTest } from "./contract-test";
import { assertMoved, assertMovesOnceInTime, assertOutcome, inWords, testsOf, timePasses } from "./scene";

const { one, meeting } = testsOf("is honest about silence");

const AFTER_ACTING = ["silent_after_acting", "reset_after_acting", "nonsense_after_acting"] as const;
const BEFORE_ACTING = ["silent_before_acting", "reset_before_acting", "server_error"] as const;

export const isHonestAboutSilence: readonly GatewayContractTest[] = [
  one("a payment gateway remembers its keys for a time that can be added to a date", async ({ gateway }) => {
    const { remembersKeysForMs } = gateway;
    assert.ok(remembersKeysForMs > 0, "remembersKeysForMs has to be above 0");
    const until = new Date(Date.now() + remembersKeysForMs).getTime();
    assert.ok(!Number.isNaN(until), `now and ${remembersKeysForMs} ms are no date`);
  }),

  ...AFTER_ACTING.flatMap((situation) =>
    meeting(
      situation,
      `is unknown, not failed, when it is ${inWords(situation)}; sent again, the key says what it did`,
      async (scene) => {
        assertOutcome(await scene.sendIntoSilence(), "unknown");
        await assertMovesOnceInTime(scene);
        assertOutcome(await scene.send(), "succeeded");
        await assertMoved(scene, 1);
      },
    ),
  ),

  ...BEFORE_ACTING.flatMap((situation) =>
    meeting(
      situation,
      `is unknown when it is ${inWords(situation)}; a resend carries it out`,
      async (scene) => {
        assertOutcome(await scene.sendIntoSilence(), "unknown");
        await assertMoved(scene, 0);
        assertOutcome(await scene.send(), "succeeded");
        await assertMoved(scene, 1);
      },
    ),
  ),

  ...meeting(
    "unreachable",
    "is not sent when nothing reached the gateway; the key may try again",
    async (scene) => {
      assertOutcome(await scene.send(), "not_sent");
      await assertMoved(scene, 0);
      assertOutcome(await scene.send(), "succeeded");
      await assertMoved(scene, 1);
    },
  ),

  ...meeting(
    "stored_server_error",
    "whose key answers 500 for ever stays unknown and never moves money",
    async (scene) => {
      for (let sent = 0; sent < 3; sent += 1) assertOutcome(await scene.send(), "unknown");
      await assertMoved(scene, 0);
    },
  ),

  ...meeting(
    "stored_server_error_after_acting",
    "that acted and answers 500 for ever stays unknown",
    async (scene) => {
      for (let sent = 0; sent < 2; sent += 1) assertOutcome(await scene.send(), "unknown");
      await assertMoved(scene, 1);
    },
  ),

  ...meeting("lands_late", "that is sent again before it lands moves money once", async (scene) => {
    assertOutcome(await scene.sendIntoSilence(), "unknown");
    assertOutcome(await scene.send(), "succeeded");
    await timePasses(scene);
    assertOutcome(await scene.send(), "succeeded");
    await assertMoved(scene, 1);
  }),

  ...meeting("too_slow", "is given up, as unknown, when the caller's patience ends", async (scene) => {
    assertOutcome(await scene.send({ timeoutMs: 20 }), "unknown");
  }),
];
