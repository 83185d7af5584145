import type { OperationKind } from "../../src/domain/operation";
import { sample } from "../support/test-size";
import type { CrashPoint } from "./crash-point";

/** One movement, as its callers ask for it. */
interface Movement {
  /** What has to have happened to the payment before, acknowledged. */
  readonly after: readonly OperationKind[];
  readonly path: (paymentId: string) => string;
  readonly status: string;
}

export const movements = {
  authorize: { after: [], path: () => "/payments", status: "authorized" },
  capture: { after: ["authorize"], path: (id) => `/payments/${id}/capture`, status: "captured" },
  void: { after: ["authorize"], path: (id) => `/payments/${id}/void`, status: "voided" },
  refund: { after: ["authorize", "capture"], path: (id) => `/payments/${id}/refunds`, status: "captured" },
} as const satisfies Partial<Record<OperationKind, Movement>>;

export type MovementKind = keyof typeof movements;

/** What the gateway does when it is sent the operation for the first time; ends the name of the payment method. */
export const gatewayActs = {
  "acts and answers": "ok",
  "acts, and its answer is lost": "timeout_captured",
  "acts, but only after the crash": "late_1500",
  "does not act, and does not answer": "timeout_not_captured",
  "does not act, and answers nonsense": "error_500",
  declines: "decline",
  "cannot be reached": "unreachable",
} as const;

export type GatewayAct = keyof typeof gatewayActs;

/** Where the process dies that was asked first. The last one dies when the caller has its answer. */
export const firstCrashes = {
  "before the intent is stored": "before intent",
  "after the intent is stored": "after intent",
  "after the send, before it reaches the gateway": "before send",
  "after the gateway was reached, before its answer comes": "after send",
  "after the gateway's answer, before it is stored": "before settle",
  "after the answer is stored, before the caller has it": "after settle",
  "after the caller has the answer": null,
} as const satisfies Record<string, CrashPoint | null>;

export type FirstCrash = keyof typeof firstCrashes;

/** Where the next process dies, when the same key is sent again after a crash that left an intent and nothing else. */
export const secondCrashes = {
  "after the resend is claimed": "after claim",
  "after the resend, before it reaches the gateway": "before send",
  "after the resend reached the gateway": "after send",
  "before the resend's answer is stored": "before settle",
  "after the resend's answer is stored": "after settle",
} as const satisfies Record<string, CrashPoint>;

export type SecondCrash = keyof typeof secondCrashes;

/** Where the reconciler dies, again and again, with whatever is due under its hands. */
export const reconcilerCrashes: readonly CrashPoint[] = [
  "before find",
  "after find",
  "after claim",
  "before send",
  "after send",
  "before settle",
  "after settle",
];

/** One payment, its operation, and where the processes died that were at it. */
export interface Cell {
  /** Also the payment's reference: whoever got no answer finds the payment by it. */
  readonly name: string;
  readonly kind: MovementKind;
  readonly gateway: GatewayAct;
  readonly first: FirstCrash;
  readonly second: SecondCrash | null;
}

/** In brief, every movement still meets every crash and every act of the gateway, but not each pair of them. */
export const cells: readonly Cell[] = (Object.keys(movements) as MovementKind[]).flatMap((kind, nthKind) =>
  (Object.keys(gatewayActs) as GatewayAct[]).flatMap((gateway, nthAct) => {
    const all = [
      ...(Object.keys(firstCrashes) as FirstCrash[]).map((first) => cell(kind, gateway, first, null)),
      ...(Object.keys(secondCrashes) as SecondCrash[]).map((second) =>
        cell(kind, gateway, "after the intent is stored", second),
      ),
    ];
    return sample(all, 5, nthKind + nthAct);
  }),
);

function cell(kind: MovementKind, gateway: GatewayAct, first: FirstCrash, second: SecondCrash | null): Cell {
  const crash = second === null ? first : `${first}, then ${second}`;
  return { name: `${kind}, gateway ${gateway}, crash ${crash}`, kind, gateway, first, second };
}

/** How often the money has moved when nothing is open any more, before anybody asks again. */
export function movesOnItsOwn({ gateway, first }: Cell): 0 | 1 {
  if (first === "before the intent is stored" || gateway === "declines") return 0;
  // It was told, or could have been, that nothing was sent; what was accepted before that is carried out.
  const told = firstCrashes[first] === "after settle" || firstCrashes[first] === null;
  return gateway === "cannot be reached" && told ? 0 : 1;
}

/** How often when the same key was sent again. */
export function movesInTheEnd({ gateway }: Cell): 0 | 1 {
  return gateway === "declines" ? 0 : 1;
}
