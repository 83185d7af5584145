import { inTime } from "../../../application/in-time";
import type { OperationKind } from "../../../domain/payment/operation";
import type { OwnGateway } from "../module/own-gateway";
import type { GatewayLayer } from "./gateway-layers";

/** What can happen to one request, and be made to happen. */
export type GatewaySituation =
  | "refused"
  | "authorization_gone"
  /** Acted; the caller hears nothing. */
  | "silent_after_acting"
  /** Did not act, recorded nothing; the caller hears nothing. */
  | "silent_before_acting"
  /** Silent; lands when time passes. */
  | "lands_late"
  /** A refund that succeeds, and fails when time passes. */
  | "fails_later"
  /** A 5xx for which nothing was done or recorded. */
  | "server_error"
  /** A 5xx that the key answers with from now on. */
  | "stored_server_error"
  /** The same, but the money did move. */
  | "stored_server_error_after_acting"
  | "unreachable"
  /** Accepted; carried out when time passes. */
  | "undecided"
  /** Accepted; refused when time passes. */
  | "undecided_then_refused"
  /** Answers, but only after a minute. */
  | "too_slow"
  /** A success that is no JSON. */
  | "nonsense_after_acting"
  | "reset_before_acting"
  | "reset_after_acting"
  /** Somebody else captures the authorization before it arrives, and not through us. */
  | "captured_elsewhere"
  /** Somebody else does so when time passes: after an authorization, or after a capture (`actsLater`). */
  | "captured_elsewhere_later"
  | "voided_elsewhere_later"
  /** Half of the payment. */
  | "refunded_elsewhere_later"
  /** All that was captured. */
  | "disputed_later";

/** In which of them somebody else acts later, after an operation of this kind. */
export const actsLater: Partial<Record<GatewaySituation, OperationKind>> = {
  captured_elsewhere_later: "authorize",
  voided_elsewhere_later: "authorize",
  refunded_elsewhere_later: "capture",
  disputed_later: "capture",
};

/** A gateway, and what its tests have to know and to bring about. */
export interface GatewayUnderTest {
  readonly name: string;
  readonly layers: readonly GatewayLayer[];
  /** Called once per test. */
  open(): OpenedGateway | Promise<OpenedGateway>;
  /**
   * What `paymentMethod` can bring about for this kind. `silent_after_acting` and `silent_before_acting` are asked for
   * whatever it says: without them a test of honesty would test nothing.
   */
  canBring(kind: OperationKind, situation: GatewaySituation): boolean;
  /** Whether `find` knows of refusals, or only the key itself does; default: it does. */
  findsRefusals?(kind: OperationKind): boolean;
  /** Whether authorizations that were made elsewhere can be looked up; default: no. */
  readonly looksUpAuthorizations?: boolean;
  /** How long a request is given that is to meet silence; default 250 ms. More where acting takes longer. */
  readonly silenceMs?: number;
  /** For what is bound to happen: when it runs out, the gateway has hung. Default 10 s. */
  readonly patienceMs?: number;
}

/** A gateway in a world of its own, in which no money has moved. */
export interface OpenedGateway {
  readonly gateway: Omit<OwnGateway, "has">;
  /** A payment method that is accepted; with a situation, one whose next operation of this kind meets it at its first send. */
  paymentMethod(kind?: OperationKind, situation?: GatewaySituation): string | Promise<string>;
  /** What the gateway itself says has moved, in order: its own books, not the adapter's answers. */
  moves(paymentId: string): Promise<readonly GatewayMovement[]>;
  /** What is still held on the customer's card. */
  reserved(paymentId: string, authorizationReference: string): Promise<bigint>;
  /** Everything late has landed and everything undecided is decided. For situations in which that plays a part. */
  timePasses?(): Promise<void>;
  /** The reference of an authorization of 50.00 EUR that somebody else has made, for this merchant or for nobody. */
  madeElsewhere?(merchant: string | null): Promise<string>;
  /** Ends what was opened. Called once after each test, whatever its outcome. */
  stop?(): Promise<void> | void;
}

export interface GatewayMovement {
  readonly kind: OperationKind;
  /** In minor units. */
  readonly amount: bigint;
}

/** What a test works with. */
export interface GatewayContractWorld {
  readonly subject: GatewayUnderTest;
  readonly opened: OpenedGateway;
  readonly gateway: OpenedGateway["gateway"];
  readonly silenceMs: number;
  readonly patienceMs: number;
}

export interface GatewayContractTest {
  readonly layer: GatewayLayer;
  readonly name: string;
  /** What the world has to bring about for it. */
  readonly needs?: { readonly kind: OperationKind; readonly situation: GatewaySituation };
  readonly needsLookup?: true;
  run(world: GatewayContractWorld): Promise<void>;
}

const SILENCE_MS = 250;
const PATIENCE_MS = 10_000;

/** How long a test may take, in milliseconds. */
export function limitOf({ patienceMs = PATIENCE_MS }: GatewayUnderTest): number {
  return patienceMs * 3;
}

/** Whether a test says something about this gateway. */
export function isMeantFor(test: GatewayContractTest, subject: GatewayUnderTest): boolean {
  if (!subject.layers.includes(test.layer)) return false;
  if (test.needsLookup === true) return subject.looksUpAuthorizations === true;
  return test.needs === undefined || isIndispensable(test) || isBrought(test, subject);
}

/** Runs one test of the contract against a gateway in a world of its own. */
export async function runGatewayContractTest(
  test: GatewayContractTest,
  subject: GatewayUnderTest,
): Promise<void> {
  if (!isBrought(test, subject)) {
    const { kind, situation } = test.needs ?? {};
    throw new Error(
      `canBring("${kind}", "${situation}") is false: without it nothing is known of this gateway when it is silent`,
    );
  }
  const { silenceMs = SILENCE_MS, patienceMs = PATIENCE_MS } = subject;
  const opened = await subject.open();
  try {
    const world = { subject, opened, gateway: opened.gateway, silenceMs, patienceMs };
    const limitMs = limitOf(subject) - patienceMs;
    const end = await inTime(
      limitMs,
      test.run(world).then(() => "ended" as const),
      () => "hung" as const,
    );
    if (end === "hung") throw new Error(`nothing happened within ${limitMs} ms`);
  } finally {
    await opened.stop?.();
  }
}

function isIndispensable({ needs }: GatewayContractTest): boolean {
  return needs?.situation === "silent_after_acting" || needs?.situation === "silent_before_acting";
}

function isBrought({ needs }: GatewayContractTest, subject: GatewayUnderTest): boolean {
  return needs === undefined || subject.canBring(needs.kind, needs.situation);
}
