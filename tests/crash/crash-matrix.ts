import type { OperationKind } from "../../src/domain/payment/operation";
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
  "takes the order, and decides later": "processing",
  declines: "decline",
  "cannot be reached": "unreachable",
} as const;

/** And what it does with money that was taken in its dashboard: a void of it goes before a person. */
const takenElsewhere = { "finds the money captured elsewhere": "captured_elsewhere" } as const;

export type GatewayAct = keyof typeof gatewayActs | keyof typeof takenElsewhere;

export function tokenOf({ kind, form, gateway }: Cell): string {
  const act = { ...gatewayActs, ...takenElsewhere }[gateway];
  return `tok_${form === "lapses" ? "void" : kind}_${act}`;
}

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

/** Where the process dies that a person gives a verdict to, about what the gateway could not do. */
export const verdictCrashes: readonly CrashPoint[] = ["before verdict", "after verdict"];

/** Where the process dies that compares a payment with the gateway's picture of it. */
export const observationCrashes: readonly CrashPoint[] = [
  "before picture",
  "after picture",
  "before observe",
  "after observe",
];

/** Where the sweeper dies, with every authorization that has lapsed. */
export const sweeperCrashes: readonly CrashPoint[] = ["before intent", "after intent"];

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
  /**
   * `not sent before`: an earlier request with the same key was told so, acknowledged. `lapses`: an authorization whose
   * time is over when the sweeper comes, so that the gateway's act is about its release. `in review`: with a verdict.
   * `observed`: compared with the gateway's picture while it is open.
   */
  readonly form: "ordinary" | "not sent before" | "lapses" | "in review" | "observed";
  readonly verdict: CrashPoint | null;
  readonly observation: CrashPoint | null;
}

/** In brief, every movement still meets every crash and every act of the gateway, but each crash with one act only. */
const everyPair: readonly Cell[] = kinds().flatMap((kind, nthKind) =>
  (Object.keys(gatewayActs) as GatewayAct[]).flatMap((gateway, nthAct) =>
    sample(everyCrash({ kind, gateway }), Object.keys(gatewayActs).length, nthKind + nthAct),
  ),
);

const notSentBefore: readonly Cell[] = kinds().flatMap((kind, nthKind) =>
  sample(everyCrash({ kind, gateway: "cannot be reached", form: "not sent before" }), 6, nthKind),
);

const takenFromUnderAVoid: readonly Cell[] = sample(
  everyCrash({ kind: "void", gateway: "finds the money captured elsewhere" }),
  6,
);

const inReview: readonly Cell[] = verdictCrashes.map((verdict) =>
  cell({
    kind: "void",
    gateway: "finds the money captured elsewhere",
    first: "after the caller has the answer",
    form: "in review",
    verdict,
  }),
);

/** What the picture settles: a capture whose answer was lost, and a void of what others have captured. */
const observed: readonly Cell[] = observationCrashes.flatMap((observation) =>
  (
    [
      { kind: "capture", gateway: "acts, and its answer is lost" },
      { kind: "void", gateway: "finds the money captured elsewhere" },
    ] as const
  ).map((of) => cell({ ...of, first: "after the caller has the answer", form: "observed", observation })),
);

const lapsing: readonly Cell[] = (
  [
    "acts and answers",
    "acts, and its answer is lost",
    "does not act, and answers nonsense",
    "declines",
    "finds the money captured elsewhere",
  ] as const
).map((gateway) =>
  cell({ kind: "authorize", gateway, first: "after the caller has the answer", form: "lapses" }),
);

export const cells: readonly Cell[] = [
  ...everyPair,
  ...notSentBefore,
  ...takenFromUnderAVoid,
  ...inReview,
  ...observed,
  ...lapsing,
];

function kinds(): MovementKind[] {
  return Object.keys(movements) as MovementKind[];
}

function everyCrash(of: Pick<Cell, "kind" | "gateway"> & Partial<Pick<Cell, "form">>): Cell[] {
  return [
    ...(Object.keys(firstCrashes) as FirstCrash[]).map((first) => cell({ ...of, first })),
    ...(Object.keys(secondCrashes) as SecondCrash[]).map((second) =>
      cell({ ...of, first: "after the intent is stored", second }),
    ),
  ];
}

function cell(of: Pick<Cell, "kind" | "gateway" | "first"> & Partial<Cell>): Cell {
  const { kind, gateway, first, second = null, form = "ordinary", verdict = null, observation = null } = of;
  const crash = second === null ? first : `${first}, then ${second}`;
  const how = form === "ordinary" ? "" : `, ${form}`;
  const then = (verdict ?? observation) === null ? "" : `, ${verdict ?? observation}`;
  return {
    name: `${kind}${how}, gateway ${gateway}, crash ${crash}${then}`,
    kind,
    gateway,
    first,
    second,
    form,
    verdict,
    observation,
  };
}

/** How often the money has moved when nothing is open any more, before anybody asks again. */
export function movesOnItsOwn({ gateway, first, form }: Cell): 0 | 1 {
  if (form === "lapses") return 1;
  if (first === "before the intent is stored" || isNeverDone(gateway)) return 0;
  // It was told, or could have been, that nothing was sent; what was accepted before that is carried out.
  const told = firstCrashes[first] === "after settle" || firstCrashes[first] === null;
  return gateway === "cannot be reached" && form === "ordinary" && told ? 0 : 1;
}

/** How often when the same key was sent again. */
export function movesInTheEnd({ gateway, form }: Cell): 0 | 1 {
  return form !== "lapses" && isNeverDone(gateway) ? 0 : 1;
}

/** How often the reserved money of an authorization that lapses is let go. A release that is refused goes on. */
export function releases({ gateway, form }: Cell): 0 | 1 {
  return form === "lapses" && gateway !== "finds the money captured elsewhere" ? 1 : 0;
}

function isNeverDone(gateway: GatewayAct): boolean {
  return gateway === "declines" || gateway === "finds the money captured elsewhere";
}
