import type { Kind } from "./payment-call";

/** What a gateway may make of a payment, by its own page. What is not here it never does. */
export interface GatewayBehaviour {
  readonly declines: readonly Kind[];
  /** Movements at which it finds that it has let the money go. */
  readonly hasLetGo: readonly Kind[];
  /** Movements at which it cannot be reached. */
  readonly isNotReached: readonly Kind[];
  /** A refund that succeeded may fail later. */
  readonly takesRefundsBack: boolean;
  /** The customer disputes a captured payment. */
  readonly disputes: boolean;
  /** What others do there. */
  readonly others: "capture" | "void" | "refund" | null;
}

export const reliable: GatewayBehaviour = {
  declines: [],
  hasLetGo: [],
  isNotReached: [],
  takesRefundsBack: false,
  disputes: false,
  others: null,
};

const BY_OTHERS = /^tok_(captured|voided|refunded)_elsewhere_\d+$/;
/** Whoever is second finds what the first has left. */
const afterOthers = {
  captured: { others: "capture" },
  voided: { others: "void", hasLetGo: ["capture", "void"] },
  refunded: { others: "refund", declines: ["refund"] },
} as const;
const DISPUTED = /^tok_dispute_\d+$/;
const ENDING =
  /^tok_(?:(authorize|capture|void|refund)_)?(decline|unreachable|authorization_gone|fails_later_\d+)$/;
const SIMULATED = /^tok_/;

/** The table of docs/simulated-gateway.md. How the gateway loses, delays and repeats makes no difference here. */
export function simulatedGateway(paymentMethod: string): GatewayBehaviour {
  const [, byOthers] = BY_OTHERS.exec(paymentMethod) ?? [];
  if (byOthers !== undefined) return { ...reliable, ...afterOthers[byOthers as keyof typeof afterOthers] };
  if (DISPUTED.test(paymentMethod)) return { ...reliable, disputes: true };
  const [, kind, ending] = ENDING.exec(paymentMethod) ?? [];
  if (ending === undefined)
    return SIMULATED.test(paymentMethod) ? reliable : { ...reliable, declines: ["authorize"] };
  if (ending === "decline") return { ...reliable, declines: [(kind ?? "authorize") as Kind] };
  if (ending === "unreachable") return { ...reliable, isNotReached: [(kind ?? "capture") as Kind] };
  if (ending === "authorization_gone") return { ...reliable, hasLetGo: [(kind ?? "capture") as Kind] };
  return { ...reliable, takesRefundsBack: true };
}
