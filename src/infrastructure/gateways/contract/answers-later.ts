import { strict as assert } from "node:assert";
import type { GatewayContractTest } from "./contract-test";
import { assertMoved, assertOutcome, testsOf, timePasses } from "./scene";

const { one, meeting } = testsOf("answers later");

export const answersLater: readonly GatewayContractTest[] = [
  one(
    "a gateway that answers later says for how long in a time that can be added to a date",
    async (world) => {
      const { decidesWithinMs } = world.gateway;
      if (decidesWithinMs === undefined) return;
      assert.ok(decidesWithinMs > 0, "decidesWithinMs has to be above 0");
      const by = new Date(Date.now() + decidesWithinMs).getTime();
      assert.ok(!Number.isNaN(by), `now and ${decidesWithinMs} ms are no date`);
    },
  ),

  ...meeting("undecided", "that is taken and not decided is pending, and has not moved", async (scene) => {
    assertOutcome(await scene.send(), "pending");
    await assertMoved(scene, 0);
  }),

  ...meeting(
    "undecided",
    "that is pending is found so until it is decided, and then as what it came to",
    async (scene) => {
      await scene.send();
      for (let asked = 0; asked < 3; asked += 1) assertOutcome(await scene.find(), "pending");
      await timePasses(scene);
      assertOutcome(await scene.find(), "succeeded");
      await assertMoved(scene, 1);
    },
  ),

  ...meeting("undecided", "that is pending and comes a second time is not done twice", async (scene) => {
    assertOutcome(await scene.send(), "pending");
    assertOutcome(await scene.send(), "pending", "unknown");
    await timePasses(scene);
    await assertMoved(scene, 1);
  }),

  ...meeting(
    "undecided",
    "that is pending keeps the name that it was given when it is done",
    async (scene) => {
      const taken = await scene.send();
      await timePasses(scene);
      const done = await scene.find();
      const [first, last] = [taken, done].map((answer) =>
        "reference" in answer ? answer.reference : undefined,
      );
      if (first !== undefined)
        assert.equal(last, first, "a pending answer's reference is that of the outcome");
    },
  ),

  ...meeting(
    "undecided_then_refused",
    "that is refused after it was pending is found as declined, and has not moved",
    async (scene) => {
      assertOutcome(await scene.send(), "pending");
      await timePasses(scene);
      const found = await scene.find();
      assertOutcome(found, "declined");
      assert.ok("reason" in found && found.reason !== "", "a refusal has a reason");
      await assertMoved(scene, 0);
    },
  ),
];
