import type { OperationKind } from "../../../domain/payment/operation";

/** How the gateway behaves, once, at the first send of an operation. */
export type TokenBehaviour =
  | { readonly does: "ok" | "decline" | "authorization_gone" }
  /** The customer decides, at a page of the gateway. */
  | { readonly does: "requires_action" }
  /** Acts, then is silent. */
  | { readonly does: "timeout_captured" }
  /** Silent, and nothing was done. */
  | { readonly does: "timeout_not_captured" }
  /** Silent; the request is on its way and lands this much later, whoever is still there to hear of it. */
  | { readonly does: "late"; readonly ms: number }
  /** Answers with success, but only after this long. */
  | { readonly does: "slow"; readonly ms: number }
  | { readonly does: "error_500" }
  /** A 500 that belongs to the key from now on. */
  | { readonly does: "error_500_stored" }
  | { readonly does: "unreachable" }
  /** A refund that succeeds, and fails that much later: the customer's bank sends the money back. */
  | { readonly does: "fails_later"; readonly ms: number }
  /** Taken, and carried out a few seconds later. */
  | { readonly does: "processing" }
  /** Taken, and carried out, or refused, an hour later. */
  | { readonly does: "pending" | "pending_then_failed" }
  /** Somebody else has captured the authorization by then, without a key of ours. */
  | { readonly does: "captured_elsewhere" };

/** That much after the operation, somebody else does this in the gateway's dashboard. */
export interface ElsewhereBehaviour {
  readonly does: "captured_elsewhere" | "voided_elsewhere" | "refunded_elsewhere";
  readonly ms: number;
}

export interface PaymentMethodToken {
  readonly actsOn: OperationKind;
  readonly behaviour: TokenBehaviour;
  readonly elsewhere?: ElsewhereBehaviour;
  /** So long after the money was taken, the customer disputes it. */
  readonly disputedAfterMs?: number;
}

type TimedBehaviour = "late" | "slow" | "fails_later";

/** Nine digits of milliseconds are eleven days: longer than any authorization here lives. */
const TOKEN =
  /^tok_(?:(authorize|capture|void|refund)_)?(?:(ok|decline|timeout_captured|timeout_not_captured|error_500|error_500_stored|unreachable|processing|pending|pending_then_failed|authorization_gone|captured_elsewhere)|(late|slow|fails_later)_(\d{1,9}))$/;

/** After an authorization, or after a capture. */
const ELSEWHERE = /^tok_(captured|voided|refunded)_elsewhere_(\d{1,9})$/;
const DISPUTE = /^tok_dispute_(\d{1,9})$/;

/** Null for what is no token. A token without an operation's name is about the capture, except `tok_decline`. */
export function parsePaymentMethodToken(text: string): PaymentMethodToken | null {
  const match = TOKEN.exec(text);
  if (match === null) return laterToken(text);
  const [, kind, plain, timed, ms] = match;
  const actsOn = (kind ?? (plain === "decline" ? "authorize" : "capture")) as OperationKind;
  // An authorization that is only being made cannot be gone.
  if (actsOn === "authorize" && plain === "authorization_gone") return null;
  // Only a void asks whether somebody has captured: the rest is carried out as it comes.
  if (actsOn !== "void" && plain === "captured_elsewhere") return null;
  // Only a refund comes back after it was made.
  if (actsOn !== "refund" && timed === "fails_later") return null;
  const behaviour =
    timed === undefined
      ? { does: plain as Exclude<TokenBehaviour["does"], TimedBehaviour> }
      : { does: timed as TimedBehaviour, ms: Number(ms) };
  return { actsOn, behaviour };
}

/** Everything that we send succeeds, but for the customer's consent, and then others do something. */
function laterToken(text: string): PaymentMethodToken | null {
  if (text === "tok_requires_action") return { actsOn: "authorize", behaviour: { does: "requires_action" } };
  const behaviour = { does: "ok" } as const;
  const [, disputedAfter] = DISPUTE.exec(text) ?? [];
  if (disputedAfter !== undefined) {
    return { actsOn: "capture", behaviour, disputedAfterMs: Number(disputedAfter) };
  }
  const [, done, ms] = ELSEWHERE.exec(text) ?? [];
  if (done === undefined) return null;
  const does = `${done}_elsewhere` as ElsewhereBehaviour["does"];
  const actsOn = does === "refunded_elsewhere" ? "capture" : "authorize";
  return { actsOn, behaviour, elsewhere: { does, ms: Number(ms) } };
}
