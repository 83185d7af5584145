import type Stripe from "stripe";
import type { FindAnswer, FindRequest, MovementRequest } from "../../../application/ports/payment-gateway";
import type { CallOptions } from "./accounts/stripe-clients";
import {
  authorizeEvidence,
  captureEvidence,
  operationIdIn,
  refundEvidence,
  voidEvidence,
} from "./stripe-evidence";
import {
  seeDispute,
  seePaymentIntent,
  seeRefund,
  type DisputeSeen,
  type PaymentIntentSeen,
  type RefundSeen,
} from "./stripe-objects";

/** A hundred each: no payment has more refunds than that. */
const REFUND_PAGES = 5;

/**
 * By the objects, never by the key: Stripe has no way to ask what a key did without sending it again. So most refusals
 * are `absent` here, and the resend that follows is answered with them. Rejects as the client does.
 */
export async function findByObjects(
  stripe: Stripe.Stripe,
  request: FindRequest,
  options: CallOptions,
): Promise<FindAnswer> {
  const { kind, authorizationReference } = request;
  if (kind === "authorize") return findAuthorization(stripe, request, options);
  if (authorizationReference === null) return { outcome: "absent" };
  const movement = { ...request, authorizationReference };
  switch (kind) {
    case "capture":
      return findCapture(stripe, movement, options);
    case "void":
      return evidenceOf(
        authorizationReference,
        await retrieveIntent(stripe, authorizationReference, options),
        (seen) => voidEvidence(seen, request),
      );
    case "refund":
      return findRefund(stripe, movement, options);
  }
}

export function evidence<Seen>(seen: Seen | null, read: (seen: Seen) => FindAnswer): FindAnswer {
  return seen === null ? { outcome: "unknown", reason: "an answer that makes no sense" } : read(seen);
}

/** An answer about another object than the one that was asked for is none. */
export function evidenceOf(
  reference: string,
  seen: PaymentIntentSeen | null,
  read: (seen: PaymentIntentSeen) => FindAnswer,
): FindAnswer {
  if (seen !== null && seen.id !== reference) {
    return { outcome: "unknown", reason: `the answer is about ${seen.id}, not ${reference}` };
  }
  return evidence(seen, read);
}

export async function findCapture(
  stripe: Stripe.Stripe,
  request: MovementRequest,
  options: CallOptions,
): Promise<FindAnswer> {
  const seen = await retrieveIntent(stripe, request.authorizationReference, options);
  return evidenceOf(request.authorizationReference, seen, (intent) => captureEvidence(intent, request));
}

export async function findRefund(
  stripe: Stripe.Stripe,
  request: MovementRequest,
  options: CallOptions,
): Promise<FindAnswer> {
  const { authorizationReference, operationId } = request;
  let after: string | undefined;
  for (let page = 1; page <= REFUND_PAGES; page++) {
    const refunds = await stripe.refunds.list(
      {
        payment_intent: authorizationReference,
        limit: 100,
        ...(after === undefined ? {} : { starting_after: after }),
      },
      options(),
    );
    const seen = refunds.data.map(seeRefund);
    const ours = seen.find((refund) => refund?.metadata?.[operationIdIn.refund] === operationId);
    if (ours) return refundEvidence(ours, authorizationReference, request);
    const last = seen.at(-1);
    // Without a whole list, "not in it" would be a guess.
    if (seen.includes(null)) return { outcome: "unknown", reason: "a list that makes no sense" };
    if (!refunds.has_more || !last) return { outcome: "absent" };
    after = last.id;
  }
  return { outcome: "unknown", reason: "too many refunds to look through" };
}

/** Null: not all of them, and what is missing may be what matters. */
export async function allRefunds(
  stripe: Stripe.Stripe,
  intentId: string,
  options: CallOptions,
): Promise<readonly RefundSeen[] | null> {
  return allOf(seeRefund, (after) =>
    stripe.refunds.list({ payment_intent: intentId, limit: 100, ...after }, options()),
  );
}

export async function allDisputes(
  stripe: Stripe.Stripe,
  intentId: string,
  options: CallOptions,
): Promise<readonly DisputeSeen[] | null> {
  return allOf(seeDispute, (after) =>
    stripe.disputes.list({ payment_intent: intentId, limit: 100, ...after }, options()),
  );
}

async function allOf<Seen extends { readonly id: string }>(
  see: (value: unknown) => Seen | null,
  page: (after: { starting_after?: string }) => Promise<{ data: unknown[]; has_more: boolean }>,
): Promise<readonly Seen[] | null> {
  const all: Seen[] = [];
  for (let pages = 1; pages <= REFUND_PAGES; pages += 1) {
    const last = all.at(-1);
    const answer = await page(last === undefined ? {} : { starting_after: last.id });
    for (const value of answer.data) {
      const seen = see(value);
      if (seen === null) return null;
      all.push(seen);
    }
    if (!answer.has_more) return all;
  }
  return null;
}

/**
 * While its reference never arrived, an authorization can only be searched for by the id it carries. The index is
 * minutes behind, so what it does not have proves nothing, and what it has is read again from the object itself.
 */
async function findAuthorization(
  stripe: Stripe.Stripe,
  request: FindRequest,
  options: CallOptions,
): Promise<FindAnswer> {
  const { operationId, authorizationReference } = request;
  let reference = authorizationReference;
  if (reference === null) {
    const found = await stripe.paymentIntents.search(
      { query: `metadata["${operationIdIn.authorize}"]:"${operationId}"`, limit: 2 },
      options(),
    );
    const [first, second] = found.data;
    if (first === undefined) return { outcome: "absent" };
    if (second !== undefined) {
      return {
        outcome: "mismatch",
        evidence: `${first.id} and ${second.id} both carry this operation's id`,
      };
    }
    reference = first.id;
  }
  const intent = await stripe.paymentIntents.retrieve(reference, { expand: ["latest_charge"] }, options());
  return evidenceOf(reference, seePaymentIntent(intent), (seen) =>
    authorizeEvidence(seen, request, { isKnown: authorizationReference !== null }),
  );
}

export async function retrieveIntent(
  stripe: Stripe.Stripe,
  reference: string,
  options: CallOptions,
): Promise<PaymentIntentSeen | null> {
  return seePaymentIntent(await stripe.paymentIntents.retrieve(reference, {}, options()));
}
