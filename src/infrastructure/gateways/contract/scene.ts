import { strict as assert } from "node:assert";
import { randomUUID } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { inspect } from "node:util";
import type {
  FindAnswer,
  FindRequest,
  GatewayAnswer,
  MovementRequest,
} from "../../../application/ports/payment-gateway";
import { money, parseCurrency, type Money } from "../../../domain/money";
import type { OperationKind } from "../../../domain/payment/operation";
import type { GatewayContractTest, GatewayContractWorld, GatewaySituation } from "./contract-test";
import type { GatewayLayer } from "./gateway-layers";

export const kinds: readonly OperationKind[] = ["authorize", "capture", "void", "refund"];

export const eur = (minorUnits: bigint): Money => money(minorUnits, parseCurrency("EUR"));
/** Of every payment in the contract. */
export const AMOUNT = 5_000n;

/** A payment that is ready for one operation, which may be sent as often as a test likes. */
export interface Scene {
  readonly world: GatewayContractWorld;
  readonly paymentId: string;
  readonly request: MovementRequest & { readonly paymentMethod: string };
  send(change?: Partial<MovementRequest>): Promise<GatewayAnswer>;
  /** With as little patience as a test of silence has. */
  sendIntoSilence(): Promise<GatewayAnswer>;
  find(change?: Partial<FindRequest>): Promise<FindAnswer>;
  /** How often money moved in the way of this operation. */
  moved(): Promise<number>;
  reserved(): Promise<bigint>;
}

export async function prepare(
  world: GatewayContractWorld,
  kind: OperationKind,
  situation?: GatewaySituation,
  otherPaymentMethod?: string,
): Promise<Scene> {
  const { gateway } = world;
  const paymentMethod = otherPaymentMethod ?? (await world.opened.paymentMethod(kind, situation));
  const paymentId = randomUUID();
  const fresh = () => ({ ...ownKey(), paymentId, amount: eur(AMOUNT), timeoutMs: 5_000 });
  let authorizationReference = "";
  if (kind !== "authorize") {
    const authorized = await gateway.authorize({ ...fresh(), paymentMethod });
    if (authorized.outcome !== "succeeded") throw new Error(`not authorized: ${inspect(authorized)}`);
    authorizationReference = authorized.reference;
  }
  if (kind === "refund") {
    const captured = await gateway.capture({ ...fresh(), authorizationReference });
    if (captured.outcome !== "succeeded") throw new Error(`not captured: ${inspect(captured)}`);
  }
  const request = { ...fresh(), authorizationReference, paymentMethod };
  const send: Scene["send"] = async (change) =>
    kind === "authorize"
      ? gateway.authorize({ ...request, ...change })
      : gateway[kind]({ ...request, ...change });
  return {
    world,
    paymentId,
    request,
    send,
    sendIntoSilence: () => send({ timeoutMs: world.silenceMs }),
    find: async (change) => {
      if (gateway.find === undefined)
        throw new Error("a gateway that can be found again has the method find");
      return gateway.find({
        ...request,
        kind,
        authorizationReference: kind === "authorize" ? null : authorizationReference,
        ...change,
      });
    },
    moved: async () => (await world.opened.moves(paymentId)).filter((move) => move.kind === kind).length,
    reserved: () => world.opened.reserved(paymentId, authorizationReference),
  };
}

/** For another operation of the same payment. */
export function ownKey(): Pick<MovementRequest, "gatewayKey" | "operationId"> {
  return { gatewayKey: randomUUID(), operationId: randomUUID() };
}

type Answer = GatewayAnswer | FindAnswer;

export function assertOutcome(answer: Answer, ...outcomes: readonly Answer["outcome"][]): void {
  if (!outcomes.includes(answer.outcome))
    assert.fail(`it had to answer ${outcomes.join(" or ")}, and it answered ${inspect(answer)}`);
}

export function assertSame(answer: Answer, expected: Answer): void {
  assert.deepEqual({ ...answer }, { ...expected });
}

export function assertReference(answer: Answer): void {
  const reference = "reference" in answer ? answer.reference : undefined;
  if (typeof reference !== "string" || reference === "")
    assert.fail(`it had to name a reference, and it answered ${inspect(answer)}`);
}

export async function assertMoved(scene: Scene, times: number): Promise<void> {
  assert.equal(await scene.moved(), times, `money had to move ${times} times, by the gateway's own books`);
}

/** What a gateway does after its caller has given up takes its own time. */
export async function assertMovesOnceInTime(scene: Scene): Promise<void> {
  const until = performance.now() + scene.world.patienceMs;
  while ((await scene.moved()) < 1 && performance.now() < until) await pause(5);
  await assertMoved(scene, 1);
}

/** What the gateway's books have of this kind, in order. */
export async function amountsMoved({ world, paymentId }: Scene, kind: OperationKind): Promise<bigint[]> {
  // Made anew: a list that a native library has made is of another kind to a strict comparison under Jest.
  const moves = Array.from(await world.opened.moves(paymentId));
  return moves.filter((move) => move.kind === kind).map(({ amount }) => amount);
}

export async function timePasses({ world: { opened } }: Scene): Promise<void> {
  if (opened.timePasses === undefined) throw new Error("the world of this situation needs timePasses()");
  await opened.timePasses();
}

type OnScene = (scene: Scene, kind: OperationKind) => Promise<void>;

interface TestsOfLayer {
  readonly one: (name: string, run: (world: GatewayContractWorld) => Promise<void>) => GatewayContractTest;
  /** One test for each of these kinds. */
  readonly each: (
    of: readonly OperationKind[],
    promise: string,
    run: OnScene,
  ) => readonly GatewayContractTest[];
  /** One test for each kind of operation that can meet the situation. */
  readonly meeting: (
    situation: GatewaySituation,
    promise: string,
    run: OnScene,
  ) => readonly GatewayContractTest[];
}

export function testsOf(layer: GatewayLayer): TestsOfLayer {
  return {
    one: (name, run) => ({ layer, name, run }),
    each: (of, promise, run) =>
      of.map((kind) => ({
        layer,
        name: `any ${kind} ${promise}`,
        run: async (world) => run(await prepare(world, kind), kind),
      })),
    meeting: (situation, promise, run) =>
      kinds.map((kind) => ({
        layer,
        name: `any ${kind} ${promise}`,
        needs: { kind, situation },
        run: async (world) => run(await prepare(world, kind, situation), kind),
      })),
  };
}

/** `silent_after_acting` as a reader says it. */
export function inWords(situation: GatewaySituation): string {
  return situation.replaceAll("_", " ");
}
