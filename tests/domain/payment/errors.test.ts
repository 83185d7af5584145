import {
  InvalidValueError,
  PaymentError,
  type PaymentErrorCode,
  type PaymentErrorFacts,
} from "../../../src/domain/payment/errors";

const ID = "0198c0de-0000-7000-8000-00000000000a";
const paymentId = ID;
const operationId = ID;
const gatewayReference = "auth_1";

/** Written from what callers and operators are to do next, one by one: a sentence that loses half of it helps nobody. */
const told: {
  readonly [Code in PaymentErrorCode]: readonly (readonly [PaymentErrorFacts[Code], string])[];
} = {
  payment_not_found: [[{ paymentId }, `There is no payment ${ID}.`]],
  payment_already_captured: [
    [{ paymentId, paymentStatus: "captured" }, `Payment ${ID} has been captured by another request.`],
  ],
  payment_not_capturable: [
    [
      { paymentId, paymentStatus: "voided" },
      `Payment ${ID} is voided: only an authorized payment can be captured.`,
    ],
  ],
  payment_not_voidable: [
    [
      { paymentId, paymentStatus: "captured" },
      `Payment ${ID} is captured: only an authorized payment can be voided.`,
    ],
  ],
  payment_not_refundable: [
    [
      { paymentId, paymentStatus: "voided" },
      `Payment ${ID} is voided: only a captured payment can be refunded.`,
    ],
  ],
  payment_expired: [
    [
      { paymentId, expiresAt: new Date("2026-03-04T12:00:00Z") },
      `The authorization of payment ${ID} expired at 2026-03-04T12:00:00.000Z: authorize a new payment.`,
    ],
  ],
  payment_voided: [
    [{ paymentId }, `Payment ${ID} was voided before the customer had acted: authorize a new payment.`],
  ],
  amount_exceeds_authorized: [[{ maxAmount: 999n }, "At most 999 minor units are authorized."]],
  amount_exceeds_captured: [[{ maxAmount: 0n }, "At most 0 minor units are left to refund."]],
  currency_mismatch: [[{ currency: "JPY" }, "The payment's currency is JPY."]],
  authorization_declined: [
    [{ paymentId, reason: "do_not_honor" }, "The gateway declined the authorization: do_not_honor."],
    [
      { paymentId, reason: "decided in review" },
      "The authorization did not happen: an operator decided so in review.",
    ],
    [
      { paymentId, reason: "authentication_required" },
      "The gateway declined the authorization: authentication_required. The customer has to act: send `returnUrl` " +
        "with a new payment, and the customer to its `nextAction`.",
    ],
  ],
  capture_declined: [[{ paymentId, reason: "no" }, "The gateway declined the capture: no."]],
  void_declined: [[{ paymentId, reason: "no" }, "The gateway declined the void: no."]],
  refund_declined: [[{ paymentId, reason: "no" }, "The gateway declined the refund: no."]],
  idempotency_key_reused: [
    [
      { kind: "capture" },
      "This idempotency key belongs to an earlier capture request with different content: use a new key.",
    ],
  ],
  idempotency_key_in_use: [
    [
      { kind: "refund" },
      "An earlier refund request with this idempotency key is still in progress: repeat it later.",
    ],
  ],
  authorize_in_progress: inProgress("authorization"),
  capture_in_progress: inProgress("capture"),
  void_in_progress: inProgress("void"),
  refund_in_progress: inProgress("refund"),
  payment_busy: [
    [{ paymentId }, `Payment ${ID} was changed by other requests while this one was running: repeat it.`],
  ],
  operation_not_found: [[{ operationId }, `There is no operation ${ID}.`]],
  operation_not_in_review: [
    [{ operationId, operationStatus: "succeeded" }, `Operation ${ID} is succeeded: it is not under review.`],
  ],
  review_contradicts_payment: [
    [
      { paymentId, paymentStatus: "captured", outcome: "not_moved" },
      `Payment ${ID} is captured, which contradicts the verdict not_moved: correct the state at the gateway first, ` +
        "then decide about the operation.",
    ],
  ],
  review_contradicts_gateway: [
    [{ operationId, outcome: "moved", gateway: { answer: "pending" } }, contradiction("pending")],
    [
      { operationId, outcome: "moved", gateway: { answer: "declined", reason: "no funds" } },
      contradiction("declined (no funds)"),
    ],
    [
      {
        operationId,
        outcome: "moved",
        gateway: { answer: "mismatch", evidence: "another amount", reason: "unused" },
      },
      contradiction("mismatch (another amount)"),
    ],
  ],
  gateway_reference_required: [
    [
      { operationId },
      `Operation ${ID} reserved money, but the gateway's reference for it is not known: add gatewayReference.`,
    ],
  ],
  authorization_not_found: [
    [
      { gatewayReference },
      "The gateway has no authorization auth_1 that names this merchant in its metadata (holdfast_merchant).",
    ],
  ],
  authorization_not_capturable: [
    [
      { gatewayReference, reason: "it is cancelled" },
      "The authorization auth_1 cannot be captured: it is cancelled.",
    ],
  ],
  authorization_already_imported: [
    [{ gatewayReference }, "The authorization auth_1 already belongs to another payment."],
  ],
  gateway_unavailable: [
    [
      { reason: "no route" },
      "The payment gateway could not be reached (no route). Nothing was sent: repeat the request with the same key.",
    ],
  ],
  gateway_access_refused: [
    [
      { reason: "401" },
      "This service has no access to the account at the payment gateway (401). Nothing was moved, and repeating the " +
        "request does not help before an operator has restored the access. A payment stays in the account in which it " +
        "was begun: once the merchant has another account, use another key.",
    ],
  ],
};

function inProgress(what: string) {
  return [
    [
      { paymentId },
      `The outcome of another ${what} of payment ${ID} is not known yet: repeat the request later.`,
    ],
    [
      { paymentId, operationStatus: "pending" },
      `The gateway has taken another ${what} of payment ${ID} and decides later: repeat the request later.`,
    ],
  ] as const;
}

function contradiction(answer: string): string {
  return (
    `The verdict moved on operation ${ID} contradicts the gateway, which has just answered ${answer}. Choose another ` +
    "verdict, or say why the gateway is wrong: overrideReason, on the command line --override."
  );
}

test.each(Object.keys(told) as PaymentErrorCode[])(
  "a refusal of a payment tells what is the matter, and what to do about it: %s",
  (code) => {
    for (const [facts, sentence] of told[code]) {
      const error = new PaymentError(code, facts);
      expect(error).toMatchObject({ name: "PaymentError", code, facts, replayed: false, message: sentence });
    }
  },
);

test("an error is told from others by its name, and a repeated refusal from one of now", () => {
  expect(new PaymentError("payment_not_found", { paymentId }, true).replayed).toBe(true);
  expect(new InvalidValueError("invalid_amount", "is not one")).toMatchObject({
    name: "InvalidValueError",
    code: "invalid_amount",
    message: "is not one",
  });
});
