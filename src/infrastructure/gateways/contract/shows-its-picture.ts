import { strict as assert } from "node:assert";
import { inspect } from "node:util";
import type { GatewayContractTest } from "./contract-test";
import { AMOUNT, timePasses } from "./scene";
import { assertMovement, assertRefunds, later, meeting, one } from "./viewed";

export const showsItsPicture: readonly GatewayContractTest[] = [
  one("of an authorization that nobody has used is open, and nothing else", async ({ picture }) => {
    const { authorization, captured, cancellation, refunds, disputes } = await picture();
    const seen = { authorization, captured, cancellation, refunds: [...refunds], disputes: [...disputes] };
    const nothing = { captured: null, cancellation: null, refunds: [], disputes: [] };
    assert.deepEqual(seen, { authorization: "open", ...nothing });
  }),

  one("of a capture of a part names its operation, its amount and a reference", async ({ send, picture }) => {
    const operationId = await send("capture", 1_200n);
    const { authorization, captured } = await picture();
    assert.equal(authorization, "captured");
    assertMovement(captured, { operationId, amount: 1_200n });
  }),

  one("of a void shows the authorization cancelled, and by nobody else", async ({ send, picture }) => {
    const operationId = await send("void");
    const { authorization, captured, cancellation } = await picture();
    assert.deepEqual({ authorization, captured }, { authorization: "cancelled", captured: null });
    const by = cancellation?.by;
    const isOurs = typeof by === "object" ? by.operationId === operationId : by === "unnamed";
    assert.ok(isOurs, `our own void was seen as ${inspect(by)}`);
  }),

  one(
    "of two refunds shows each with its operation and a reference of its own",
    async ({ send, picture }) => {
      await send("capture");
      const first = await send("refund", 1_000n);
      const second = await send("refund", 1_500n);
      const { refunds } = await picture();
      assertRefunds(refunds, [
        [first, 1_000n, "succeeded"],
        [second, 1_500n, "succeeded"],
      ]);
      assert.equal(
        new Set(refunds.map(({ reference }) => reference)).size,
        2,
        "references are never the same",
      );
    },
  ),

  one("of an authorization that the gateway does not have is unknown", async ({ ask }) => {
    const answer = await ask({ authorizationReference: "no-such-authorization" });
    assert.equal(answer.outcome, "unknown", inspect(answer));
  }),

  one("moves nothing, however often it is asked for", async ({ scene, send, picture }) => {
    await send("capture");
    const moves = async () => Array.from(await scene.world.opened.moves(scene.paymentId));
    const before = await moves();
    for (let time = 0; time < 5; time += 1) await picture();
    assert.deepEqual(await moves(), before);
  }),

  ...meeting(
    "capture",
    "silent_after_acting",
    "of a capture whose answer was lost shows it",
    async (viewed) => {
      await viewed.scene.sendIntoSilence();
      const { operationId } = viewed.scene.request;
      assertMovement((await viewed.picture()).captured, { operationId, amount: AMOUNT });
    },
  ),

  ...meeting(
    "capture",
    "silent_before_acting",
    "of a capture that was lost shows nothing",
    async (viewed) => {
      await viewed.scene.sendIntoSilence();
      const { authorization, captured } = await viewed.picture();
      assert.deepEqual({ authorization, captured }, { authorization: "open", captured: null });
    },
  ),

  ...meeting(
    "refund",
    "undecided",
    "of a refund that is not decided is pending until it is",
    async (viewed) => {
      await viewed.scene.send();
      const { operationId } = viewed.scene.request;
      assertRefunds((await viewed.picture()).refunds, [[operationId, AMOUNT, "pending"]]);
      await timePasses(viewed.scene);
      assertRefunds((await viewed.picture()).refunds, [[operationId, AMOUNT, "succeeded"]]);
    },
  ),

  ...meeting(
    "capture",
    "undecided",
    "of a capture that is not decided is undecided until it is",
    async (viewed) => {
      await viewed.scene.send();
      const { authorization, captured } = await viewed.picture();
      assert.deepEqual({ authorization, captured }, { authorization: "undecided", captured: null });
      await timePasses(viewed.scene);
      const { operationId } = viewed.scene.request;
      assertMovement((await viewed.picture()).captured, { operationId, amount: AMOUNT });
    },
  ),

  ...meeting(
    "refund",
    "undecided_then_refused",
    "of a refund that was refused after it was pending says so, with a reason",
    async (viewed) => {
      await viewed.scene.send();
      const { operationId } = viewed.scene.request;
      assertRefunds((await viewed.picture()).refunds, [[operationId, AMOUNT, "pending"]]);
      await timePasses(viewed.scene);
      const { refunds } = await viewed.picture();
      assertRefunds(refunds, [[operationId, AMOUNT, "failed"]]);
      assert.ok((refunds[0]?.reason ?? "") !== "", "a failed refund has a reason");
    },
  ),

  ...meeting(
    "refund",
    "fails_later",
    "of a refund that failed later says so, with a reason",
    async (viewed) => {
      await viewed.scene.send();
      await timePasses(viewed.scene);
      const { refunds } = await viewed.picture();
      assertRefunds(refunds, [[viewed.scene.request.operationId, AMOUNT, "failed"]]);
      assert.ok((refunds[0]?.reason ?? "") !== "", "a failed refund has a reason");
    },
  ),

  ...meeting(
    "capture",
    "authorization_gone",
    "of an authorization that ended by itself is lapsed",
    async (viewed) => {
      await viewed.scene.send();
      const { authorization, captured, cancellation } = await viewed.picture();
      const lapsed = { authorization: "lapsed", captured: null, cancellation: null };
      assert.deepEqual({ authorization, captured, cancellation }, lapsed);
    },
  ),

  ...later(
    "captured_elsewhere_later",
    "of a capture by others names no operation",
    async ({ scene, picture }) => {
      assert.equal((await picture()).authorization, "open");
      await timePasses(scene);
      const { authorization, captured } = await picture();
      assert.equal(authorization, "captured");
      assertMovement(captured, { operationId: null, amount: AMOUNT });
    },
  ),

  ...later(
    "voided_elsewhere_later",
    "of a cancellation by others names no operation",
    async ({ scene, picture }) => {
      await timePasses(scene);
      const { authorization, captured, cancellation } = await picture();
      assert.deepEqual({ authorization, captured }, { authorization: "cancelled", captured: null });
      assert.equal(typeof cancellation?.by, "string", inspect(cancellation));
    },
  ),

  ...later("refunded_elsewhere_later", "of a refund by others stands beside ours", async (viewed) => {
    await viewed.send("capture");
    const ours = await viewed.send("refund", 1_000n);
    await timePasses(viewed.scene);
    assertRefunds((await viewed.picture()).refunds, [
      [ours, 1_000n, "succeeded"],
      [null, AMOUNT / 2n, "succeeded"],
    ]);
  }),

  ...later(
    "disputed_later",
    "shows a dispute, with its amount and the time for an answer",
    async (viewed) => {
      await viewed.send("capture", 4_000n);
      assert.equal((await viewed.picture()).disputes.length, 0);
      await timePasses(viewed.scene);
      const [dispute, ...others] = (await viewed.picture()).disputes;
      assert.equal(others.length, 0);
      assert.deepEqual(
        { status: dispute?.status, amount: dispute?.amount, isDue: dispute?.dueBy instanceof Date },
        { status: "needs_response", amount: 4_000n, isDue: true },
      );
      assert.ok((dispute?.id ?? "") !== "" && (dispute?.reason ?? "") !== "", inspect(dispute));
    },
  ),
];
