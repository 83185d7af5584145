import type { OperationKind } from "../../../src/domain/payment/operation";
import { StripeEvents } from "./stripe-events";

export interface StripeAnswer {
  readonly status: number;
  readonly body: unknown;
  /** Refused while reading the parameters: Stripe remembers nothing of it for the key. */
  readonly beforeExecution?: boolean;
}

export interface Intent {
  readonly id: string;
  readonly object: "payment_intent";
  readonly amount: number;
  readonly currency: string;
  readonly metadata: Record<string, string>;
  status: string;
  amount_capturable: number;
  amount_received: number;
  latest_charge: string | null;
  cancellation_reason: string | null;
  last_payment_error: { code: string; decline_code?: string } | null;
  next_action: { type: string; redirect_to_url?: { url: string; return_url: string } } | null;
}

export interface Refund {
  readonly id: string;
  readonly object: "refund";
  readonly payment_intent: string;
  readonly amount: number;
  readonly currency: string;
  readonly metadata: Record<string, string>;
  status: string;
  failure_reason?: string;
}

export interface Dispute {
  readonly id: string;
  readonly object: "dispute";
  readonly payment_intent: string;
  readonly amount: number;
  readonly currency: string;
  readonly reason: string;
  status: string;
  evidence_details: { due_by: number | null };
}

export interface Move {
  readonly kind: OperationKind;
  readonly paymentId: string;
  readonly amount: number;
}

/** How the next request of a kind is carried out, once it gets that far. */
export type Course = "as asked" | "refused" | "undecided" | "undecided_then_refused";

/** PaymentIntents and refunds as Stripe documents them: the part that a manual capture touches. */
export class StripeWorld {
  readonly intents = new Map<string, Intent>();
  readonly refunds: Refund[] = [];
  readonly disputes: Dispute[] = [];
  readonly moves: Move[] = [];
  readonly events = new StripeEvents();
  /** A part of all ids: they are unique among all accounts, and those of several worlds fit into one store. */
  label: string;
  /** Unix seconds, when asked for by expanding the charge. */
  captureBefore = Math.floor(Date.now() / 1_000) + 7 * 86_400;
  /** Not for an account like this one. */
  readonly currenciesRefused = new Set<string>();
  readonly wholeUnitsOnly = new Set<string>();
  /** Search is an index, and indexes lag. */
  searchIsBehind = false;
  private readonly undecided: (() => void)[] = [];

  constructor(label = "") {
    this.label = label;
  }

  decide(): void {
    for (const decision of this.undecided.splice(0)) decision();
  }

  create(form: URLSearchParams, course: Course): StripeAnswer {
    const method = form.get("payment_method") ?? "";
    if (!method.startsWith("pm_card_")) {
      return invalid({ code: "resource_missing", param: "payment_method" });
    }
    if (form.get("capture_method") !== "manual" || form.get("confirm") !== "true") {
      return invalid({ code: "parameter_missing", param: "confirm" });
    }
    const amount = Number(form.get("amount"));
    const currency = form.get("currency") ?? "";
    if (this.currenciesRefused.has(currency)) return invalid({ param: "currency" });
    if (this.wholeUnitsOnly.has(currency) && amount % 100 !== 0) return invalid({ param: "amount" });
    if (currency === "usd" && amount < 50) return invalid({ code: "amount_too_small", param: "amount" });
    if (amount > 99_999_999) return invalid({ code: "amount_too_large", param: "amount" });
    const intent: Intent = {
      id: `pi_${this.label}${this.intents.size + 1}`,
      object: "payment_intent",
      amount,
      currency,
      metadata: metadataOf(form),
      status: "processing",
      amount_capturable: 0,
      amount_received: 0,
      latest_charge: null,
      cancellation_reason: null,
      last_payment_error: null,
      next_action: null,
    };
    this.intents.set(intent.id, intent);
    if (course === "refused" || method === "pm_card_visa_chargeDeclined") {
      this.refuse(intent);
      return declined(intent);
    }
    if (course === "undecided_then_refused") this.undecided.push(() => this.refuse(intent));
    if (method === "pm_card_threeDSecure2Required") return this.sendToBank(intent, form);
    return this.done(course, intent, () => this.authorized(intent), form.has("expand[0]"));
  }

  private authorized(intent: Intent): void {
    intent.status = "requires_capture";
    intent.amount_capturable = intent.amount;
    intent.latest_charge = `ch_${intent.id}`;
    intent.next_action = null;
    this.moved("authorize", intent, intent.amount);
    this.events.record("payment_intent.amount_capturable_updated", intent);
  }

  /** Where there is no way back from it, a card that wants its owner is refused. */
  private sendToBank(intent: Intent, form: URLSearchParams): StripeAnswer {
    const return_url = form.get("return_url");
    if (form.get("error_on_requires_action") === "true") {
      this.failAuthentication(intent, "authentication_required");
      return declined(intent, "authentication_required");
    }
    if (return_url === null) return invalid({ code: "parameter_missing", param: "return_url" });
    intent.status = "requires_action";
    const url = `https://hooks.stripe.com/3d_secure_2/${intent.id}`;
    intent.next_action = { type: "redirect_to_url", redirect_to_url: { url, return_url } };
    this.events.record("payment_intent.requires_action", intent);
    return ok(intent);
  }

  /** What the customer does at the bank's page. */
  authenticate(id: string, how: "confirms" | "fails"): void {
    const intent = this.intents.get(id);
    if (intent?.status !== "requires_action") return;
    if (how === "confirms") this.authorized(intent);
    else this.failAuthentication(intent, "payment_intent_authentication_failure");
  }

  private failAuthentication(intent: Intent, code: string): void {
    intent.status = "requires_payment_method";
    intent.next_action = null;
    intent.last_payment_error = { code };
    this.events.record("payment_intent.payment_failed", intent);
  }

  capture(id: string, form: URLSearchParams, course: Course): StripeAnswer {
    const intent = this.intents.get(id);
    if (intent === undefined) return missing();
    if (intent.status !== "requires_capture") return unexpectedState(intent);
    const amount = Number(form.get("amount_to_capture") ?? intent.amount_capturable);
    if (amount > intent.amount_capturable)
      return invalid({ code: "amount_too_large", param: "amount_to_capture" });
    if (course === "refused") return declined(intent);
    intent.status = "processing";
    if (course === "undecided_then_refused") this.undecided.push(() => this.refuse(intent));
    return this.done(course, intent, () => {
      Object.assign(intent.metadata, metadataOf(form));
      intent.status = "succeeded";
      intent.amount_received = amount;
      intent.amount_capturable = 0;
      this.moved("capture", intent, amount);
      this.captured(intent);
    });
  }

  cancel(id: string, form: URLSearchParams): StripeAnswer {
    const intent = this.intents.get(id);
    if (intent === undefined) return missing();
    const isHeld = intent.status === "requires_capture";
    if (!isHeld && intent.status !== "requires_action") return unexpectedState(intent);
    this.end(intent, form.get("cancellation_reason"));
    if (isHeld) this.moved("void", intent, intent.amount);
    return ok(intent);
  }

  /** Stripe lets go of what nobody captured. */
  lapse(id: string): void {
    const intent = this.intents.get(id);
    if (intent?.status === "requires_capture") this.end(intent, "automatic");
  }

  /** With no key and no metadata of ours. */
  captureInDashboard(id: string): void {
    const intent = this.intents.get(id);
    if (intent?.status !== "requires_capture") return;
    this.moved("capture", intent, intent.amount_capturable);
    intent.status = "succeeded";
    intent.amount_received = intent.amount_capturable;
    intent.amount_capturable = 0;
    this.captured(intent);
  }

  cancelInDashboard(id: string): void {
    const intent = this.intents.get(id);
    if (intent?.status !== "requires_capture") return;
    this.end(intent, "requested_by_customer");
    this.moved("void", intent, intent.amount);
  }

  refundInDashboard(id: string, amount: number): Refund | undefined {
    const intent = this.intents.get(id);
    if (intent === undefined) return undefined;
    const form = new URLSearchParams({ payment_intent: id, amount: String(amount) });
    const { status } = this.refund(form, "as asked");
    return status === 200 ? this.refunds.at(-1) : undefined;
  }

  dispute(id: string): Dispute | undefined {
    const intent = this.intents.get(id);
    if (intent?.status !== "succeeded") return undefined;
    const dispute: Dispute = {
      id: `du_${this.disputes.length + 1}`,
      object: "dispute",
      payment_intent: id,
      amount: intent.amount_received,
      currency: intent.currency,
      reason: "fraudulent",
      status: "needs_response",
      evidence_details: { due_by: this.captureBefore },
    };
    this.disputes.push(dispute);
    this.events.record("charge.dispute.created", dispute);
    return dispute;
  }

  /** What somebody does in the dashboard when time passes. A refund there gives half of it back. */
  actLater(what: string, id: string): void {
    this.undecided.push(() => {
      if (what === "captured_elsewhere_later") this.captureInDashboard(id);
      if (what === "voided_elsewhere_later") this.cancelInDashboard(id);
      const taken = this.intents.get(id)?.amount_received ?? 0;
      if (what === "refunded_elsewhere_later") this.refundInDashboard(id, Math.ceil(taken / 2));
      if (what === "disputed_later") this.dispute(id);
    });
  }

  /** The customer's bank sends it back, days after it succeeded. */
  failLatestRefundLater(kind: string): void {
    const refund = this.refunds.at(-1);
    if (kind !== "refund" || refund === undefined) return;
    this.undecided.push(() => this.failRefund(refund));
  }

  private failRefund(refund: Refund): void {
    Object.assign(refund, { status: "failed", failure_reason: "expired_or_canceled_card" });
    this.events.record("refund.failed", refund);
    this.events.record("charge.refund.updated", refund);
  }

  private refuse(intent: Intent): void {
    intent.status = "requires_payment_method";
    intent.last_payment_error = { code: "card_declined", decline_code: "generic_decline" };
    this.events.record("payment_intent.payment_failed", intent);
  }

  refund(form: URLSearchParams, course: Course): StripeAnswer {
    const intent = this.intents.get(form.get("payment_intent") ?? "");
    if (intent === undefined) return missing();
    const refunded = this.refunds
      .filter((refund) => refund.payment_intent === intent.id && refund.status !== "failed")
      .reduce((sum, { amount }) => sum + amount, 0);
    const amount = Number(form.get("amount"));
    if (refunded === intent.amount_received) return bad({ code: "charge_already_refunded" });
    if (refunded + amount > intent.amount_received) return bad({ param: "amount" });
    if (course === "refused") return bad({ code: "balance_insufficient" });
    const refund: Refund = {
      id: `re_${this.label}${this.refunds.length + 1}`,
      object: "refund",
      payment_intent: intent.id,
      amount,
      currency: intent.currency,
      metadata: metadataOf(form),
      status: "pending",
    };
    this.refunds.push(refund);
    this.events.record("refund.created", refund);
    if (course === "undecided_then_refused") this.undecided.push(() => this.failRefund(refund));
    return this.done(course, refund, () => {
      refund.status = "succeeded";
      this.moved("refund", intent, amount);
      this.events.record("refund.updated", refund);
      this.events.record("charge.refunded", chargeOf(intent));
    });
  }

  retrieve(id: string, query: URLSearchParams): StripeAnswer {
    const intent = this.intents.get(id);
    if (intent === undefined) return missing();
    return ok(query.has("expand[0]") ? this.expanded(intent) : intent);
  }

  private expanded(intent: Intent): object {
    const { latest_charge: id } = intent;
    if (id === null) return intent;
    const card = { capture_before: this.captureBefore };
    const disputed = this.disputes.some((dispute) => dispute.payment_intent === intent.id);
    return { ...intent, latest_charge: { id, disputed, payment_method_details: { type: "card", card } } };
  }

  listDisputes(query: URLSearchParams): StripeAnswer {
    const data = this.disputes.filter((dispute) => dispute.payment_intent === query.get("payment_intent"));
    return ok({ object: "list", data, has_more: false });
  }

  search(query: URLSearchParams): StripeAnswer {
    const [, key = "", value] = /^metadata\["(\w+)"\]:"([^"]+)"$/.exec(query.get("query") ?? "") ?? [];
    const found = [...this.intents.values()].filter(({ metadata }) => metadata[key] === value);
    return ok({ object: "search_result", data: this.searchIsBehind ? [] : found, has_more: false });
  }

  listRefunds(query: URLSearchParams): StripeAnswer {
    const all = this.refunds
      .filter((refund) => refund.payment_intent === query.get("payment_intent"))
      .reverse();
    const after = all.findIndex(({ id }) => id === query.get("starting_after")) + 1;
    const data = all.slice(after, after + Number(query.get("limit") ?? 10));
    return ok({ object: "list", data, has_more: after + data.length < all.length });
  }

  private done(course: Course, object: Intent | Refund, decision: () => void, expand = false): StripeAnswer {
    if (course === "undecided") this.undecided.push(decision);
    else if (course !== "undecided_then_refused") decision();
    return ok(expand && object.object === "payment_intent" ? this.expanded(object) : object);
  }

  private end(intent: Intent, reason: string | null): void {
    intent.status = "canceled";
    intent.cancellation_reason = reason;
    intent.next_action = null;
    intent.amount_capturable = 0;
    this.events.record("payment_intent.canceled", intent);
  }

  private captured(intent: Intent): void {
    // As at Stripe, in no order.
    this.events.record("payment_intent.succeeded", intent);
    this.events.record("charge.captured", chargeOf(intent));
  }

  private moved(kind: OperationKind, { metadata }: Intent, amount: number): void {
    this.moves.push({ kind, paymentId: metadata["holdfast_payment"] ?? "", amount });
  }
}

function chargeOf({ id, latest_charge, metadata, amount, currency }: Intent): object {
  return {
    object: "charge",
    id: latest_charge ?? `ch_${id}`,
    payment_intent: id,
    amount,
    currency,
    metadata,
  };
}

/** As it is now: the answer that a key replays does not change with the object. */
function ok(object: object): StripeAnswer {
  return { status: 200, body: structuredClone(object) };
}

function metadataOf(form: URLSearchParams): Record<string, string> {
  const entries = [...form].flatMap(([name, value]) => {
    const key = /^metadata\[(\w+)\]$/.exec(name)?.[1];
    return key === undefined ? [] : [[key, value]];
  });
  return Object.fromEntries(entries) as Record<string, string>;
}

function bad(facts: { code?: string; param?: string }): StripeAnswer {
  return { status: 400, body: { error: { type: "invalid_request_error", message: "refused", ...facts } } };
}

function invalid(facts: { code?: string; param?: string }): StripeAnswer {
  return { ...bad(facts), beforeExecution: true };
}

function unexpectedState(intent: Intent): StripeAnswer {
  const error = {
    type: "invalid_request_error",
    code: "payment_intent_unexpected_state",
    message: intent.status,
  };
  return { status: 400, body: structuredClone({ error: { ...error, payment_intent: intent } }) };
}

function declined(intent: Intent, decline_code = "generic_decline"): StripeAnswer {
  const error = {
    type: "card_error",
    code: "card_declined",
    decline_code,
    message: "declined",
  };
  return { status: 402, body: structuredClone({ error: { ...error, payment_intent: intent } }) };
}

function missing(): StripeAnswer {
  const error = {
    type: "invalid_request_error",
    code: "resource_missing",
    param: "intent",
    message: "none such",
  };
  return { status: 404, body: { error }, beforeExecution: true };
}
