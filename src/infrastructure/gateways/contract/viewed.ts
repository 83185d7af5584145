import { strict as assert } from "node:assert";
import { inspect } from "node:util";
import type { PictureAnswer, PictureRequest } from "../../../application/ports/payment-gateway";
import type { OperationKind } from "../../../domain/payment/operation";
import type { GatewayPicture } from "../../../domain/payment/picture/gateway-picture";
import {
  actsLater,
  type GatewayContractTest,
  type GatewayContractWorld,
  type GatewaySituation,
} from "./contract-test";
import { AMOUNT, eur, ownKey, prepare, type Scene } from "./scene";

/** A payment that was authorized, whose next operation of the scene's kind is still to be sent. */
export interface Viewed {
  readonly scene: Scene;
  /** Returns the operation's id. */
  readonly send: (kind: Exclude<OperationKind, "authorize">, units?: bigint) => Promise<string>;
  readonly ask: (change?: Partial<PictureRequest>) => Promise<PictureAnswer>;
  readonly picture: () => Promise<GatewayPicture>;
}

export function one(promise: string, run: (viewed: Viewed) => Promise<void>): GatewayContractTest {
  return {
    layer: "shows its picture",
    name: `a picture ${promise}`,
    run: async (world) => run(viewed(await prepare(world, "capture"))),
  };
}

export function meeting(
  kind: OperationKind,
  situation: GatewaySituation,
  promise: string,
  run: (viewed: Viewed) => Promise<void>,
): readonly GatewayContractTest[] {
  const ready = (world: GatewayContractWorld) => prepare(world, kind, situation);
  return [
    {
      ...one(promise, run),
      needs: { kind, situation },
      run: async (world) => run(viewed(await ready(world))),
    },
  ];
}

/** Somebody else acts on the payment when time passes. */
export function later(
  situation: GatewaySituation,
  promise: string,
  run: (viewed: Viewed) => Promise<void>,
): readonly GatewayContractTest[] {
  const kind = actsLater[situation];
  if (kind === undefined) throw new Error(`nobody acts later in ${situation}`);
  const ready = async (world: GatewayContractWorld) =>
    prepare(world, "capture", undefined, await world.opened.paymentMethod(kind, situation));
  return [
    {
      ...one(promise, run),
      needs: { kind, situation },
      run: async (world) => run(viewed(await ready(world))),
    },
  ];
}

function viewed(scene: Scene): Viewed {
  const { world, paymentId, request } = scene;
  const ask: Viewed["ask"] = async (change) => {
    const { authorizationReference } = request;
    const asked = { paymentId, amount: eur(AMOUNT), authorizationReference, timeoutMs: 5_000, ...change };
    if (world.gateway.picture === undefined)
      throw new Error("a gateway that shows its picture has the method picture");
    return world.gateway.picture(asked);
  };
  return {
    scene,
    ask,
    picture: async () => {
      const answer = await ask();
      if (answer.outcome !== "seen")
        assert.fail(`it had to show a picture, and it answered ${inspect(answer)}`);
      return answer.picture;
    },
    send: async (kind, units = AMOUNT) => {
      const own = { ...request, ...ownKey(), amount: eur(units) };
      const { outcome } = await world.gateway[kind](own);
      if (outcome !== "succeeded") throw new Error(`the ${kind} is ${outcome}`);
      return own.operationId;
    },
  };
}

export function assertMovement(
  seen: GatewayPicture["captured"],
  { operationId, amount }: { readonly operationId: string | null; readonly amount: bigint },
): void {
  assert.deepEqual(
    { operationId: seen?.operationId, amount: seen?.amount },
    { operationId, amount },
    inspect(seen),
  );
  assert.ok((seen?.reference ?? "") !== "", "a movement has a reference");
}

export function assertRefunds(
  seen: GatewayPicture["refunds"],
  expected: readonly (readonly [operationId: string | null, amount: bigint, state: string])[],
): void {
  const inWords = (refund: readonly [string | null, bigint, string]) => refund.join(" ");
  assert.deepEqual(
    Array.from(seen, ({ operationId, amount, state }) => inWords([operationId, amount, state])).sort(),
    expected.map((refund) => inWords(refund as [string | null, bigint, string])).sort(),
  );
}
