import type { SeededRandom } from "../../../simulation/lease/seeded-random";
import type { HttpAnswer, HttpRequest } from "../history/http-call";

/** What else happens to the payment, beside requests. */
export const kindsOfHistory = ["ordinary", "reviewed", "disputed", "imported"] as const;
export type KindOfHistory = (typeof kindsOfHistory)[number];

const STEPS_OF_DISPUTE = ["needs_response", "under_review", "lost"] as const;

interface Done {
  readonly id: string;
  readonly kind: string;
  readonly amount: number;
  readonly content: string;
  is: "open" | "not sent" | "succeeded" | "failed";
  final: HttpAnswer | null;
  /** The gateway never says what became of it; a person finds out. */
  inReview?: { readonly hasMoved: boolean };
}

/**
 * One payment behind a server that makes no mistake, written without the model: what a request finds is decided at one
 * moment, and what the gateway does with it becomes known at a later one.
 */
export class HonestPayment {
  private status = "none";
  private readonly amount = 0;
  private open: Done | null = null;
  private readonly done = new Map<string, Done>();
  private disputeSteps = 0;
  private readonly moves: { kind: string; gatewayKey: string; amount: number }[] = [];

  constructor(
    private readonly id: string,
    private readonly random: SeededRandom,
    private readonly history: KindOfHistory = "ordinary",
  ) {}

  get isOpen(): boolean {
    return this.open !== null;
  }

  /** What a person is about to decide, who has looked at the gateway's own books. */
  get review(): { readonly operationId: string; readonly hasMoved: boolean } | null {
    const { id, inReview } = this.open ?? {};
    return id === undefined || inReview === undefined
      ? null
      : { operationId: id, hasMoved: inReview.hasMoved };
  }

  /** The answer, or that the request waits for the gateway. */
  arrive(request: HttpRequest): HttpAnswer | "sent" {
    if (request.path.startsWith("/gateway")) return { status: 200, body: { moves: [...this.moves] } };
    if (request.path === "/reviews") return { status: 200, body: { data: this.cases() } };
    if (request.path.startsWith("/reviews/")) return this.decide(request);
    if (request.method === "GET") return { status: 200, body: { payment: this.shownToReaders() } };
    const kind = /(capture|void|refund)s?$/.exec(request.path)?.[1] ?? "authorize";
    const body = request.body as { amount?: number };
    const content = JSON.stringify(body);
    const known = this.done.get(`${kind} ${request.key}`);
    if (known !== undefined && known.content !== content) return problem(422, "idempotency_key_reused");
    if (known?.final) return known.final;
    if (known?.is === "open") return this.unknown(known);
    if (this.open !== null) return problem(409, `${this.open.kind}_in_progress`);
    const refusal = this.refusal(kind, known?.amount ?? body.amount);
    if (refusal !== null) return refusal;
    if ("gatewayReference" in (request.body as object)) return this.takeOver(request.key!, content);
    const all = kind === "refund" ? this.left() : this.amount;
    const amount = known?.amount ?? body.amount ?? all;
    if (kind === "authorize") Object.assign(this, { status: "authorizing", amount });
    const id = known?.id ?? `${kind}-${this.done.size}`;
    this.open = { id, kind, amount, content, is: "open", final: null };
    this.done.set(`${kind} ${request.key}`, this.open);
    return "sent";
  }

  /** What a request hears that waits for the gateway. */
  hear(request: HttpRequest): HttpAnswer {
    const kind = /(capture|void|refund)s?$/.exec(request.path)?.[1] ?? "authorize";
    const own = this.done.get(`${kind} ${request.key}`)!;
    if (own.final !== null) return own.final;
    if (own.is === "open" && own.inReview === undefined && this.random.chance(0.2)) {
      own.is = "not sent";
      this.open = null;
    }
    return own.is === "not sent" ? problem(503, "gateway_unavailable") : this.unknown(own);
  }

  /** The gateway answers, whether or not a request still waits for it. */
  settle(): void {
    if (this.history === "disputed" && this.status === "captured" && this.random.chance(0.1))
      this.disputeSteps += 1;
    const own = this.open;
    if (own === null || own.inReview !== undefined) return;
    if (this.history === "reviewed" && own.kind !== "authorize" && this.random.chance(0.5)) {
      own.inReview = { hasMoved: this.random.chance(0.5) };
      if (own.inReview.hasMoved) this.move(own);
      return;
    }
    this.move(own);
    this.succeed(own);
  }

  private cases(): object[] {
    const { open, id: paymentId } = this;
    return open?.inReview === undefined
      ? []
      : [{ operationId: open.id, paymentId, kind: open.kind, status: "unknown" }];
  }

  private decide(request: HttpRequest): HttpAnswer {
    const own = this.open;
    if (own?.inReview === undefined || request.path !== `/reviews/${own.id}`)
      return problem(409, "operation_not_in_review");
    const { outcome, overrideReason } = request.body as { outcome: string; overrideReason?: string };
    if ((outcome === "moved") !== own.inReview.hasMoved && overrideReason === undefined)
      return problem(409, "review_contradicts_gateway");
    if (outcome === "moved") this.succeed(own);
    else {
      this.open = null;
      own.is = "failed";
      own.final = problem(402, `${own.kind}_declined`);
    }
    const { id, kind, is: status, amount } = own;
    return { status: 200, body: { operation: { id, kind, status, amount }, payment: this.shownToReaders() } };
  }

  /** Nothing is sent for it. */
  private takeOver(key: string, content: string): HttpAnswer {
    if (this.random.chance(0.3)) return problem(503, "gateway_unavailable");
    const id = `authorize-${this.done.size}`;
    const final = { status: 201, body: {} };
    const own: Done = { id, kind: "authorize", amount: 100, content, is: "succeeded", final };
    this.done.set(`authorize ${key}`, own);
    Object.assign(this, { status: "authorized", amount: 100 });
    final.body = { payment: this.shown() };
    return final;
  }

  private move({ kind, id, amount }: Done): void {
    this.moves.push({ kind, gatewayKey: id, amount });
  }

  private succeed(own: Done): void {
    this.open = null;
    own.is = "succeeded";
    this.status = { authorize: "authorized", capture: "captured", void: "voided" }[own.kind] ?? this.status;
    own.final = { status: 201, body: { ...this.operation(own), payment: this.shown() } };
  }

  private refusal(kind: string, amount: number | undefined): HttpAnswer | null {
    const { status } = this;
    if (kind === "capture") {
      if (status === "captured") return problem(409, "payment_already_captured");
      if (status !== "authorized") return problem(409, "payment_not_capturable");
      return (amount ?? 0) > this.amount ? problem(422, "amount_exceeds_authorized") : null;
    }
    if (kind === "void") return status === "authorized" ? null : problem(409, "payment_not_voidable");
    if (kind === "authorize") return null;
    if (status !== "captured") return problem(409, "payment_not_refundable");
    if (this.left() > 0 && (amount ?? 0) <= this.left()) return null;
    return problem(422, "amount_exceeds_captured", { maxAmount: this.left() });
  }

  private unknown(own: Done): HttpAnswer {
    return { status: 202, body: { ...this.operation(own), payment: this.shown() } };
  }

  private operation({ kind, id, is, amount }: Done): object {
    return { [kind]: { id, status: is === "open" ? "unknown" : is, amount } };
  }

  private left(): number {
    return this.total("capture") - this.total("refund");
  }

  private total(kind: string): number {
    return this.of(kind)
      .filter(({ is }) => is === "succeeded")
      .reduce((sum, { amount }) => sum + amount, 0);
  }

  private of(kind: string): Done[] {
    return [...this.done.values()].filter((one) => one.kind === kind && one.is !== "not sent");
  }

  private shownToReaders() {
    const status = STEPS_OF_DISPUTE[Math.min(this.disputeSteps, STEPS_OF_DISPUTE.length) - 1];
    const disputes = status === undefined ? [] : [{ id: "dispute", status, amount: this.total("capture") }];
    return { ...this.shown(), disputes };
  }

  private shown() {
    const verb = { capture: "capturing", void: "voiding", refund: "refunding" }[this.open?.kind ?? ""];
    const view = (kind: string) =>
      this.of(kind).map(({ id, is, amount }) => ({ id, status: is === "open" ? "unknown" : is, amount }));
    return {
      id: this.id,
      status: verb ?? this.status,
      amount: this.amount,
      currency: "EUR",
      amountCaptured: this.total("capture"),
      amountRefunded: this.total("refund"),
      captures: view("capture"),
      refunds: view("refund"),
    };
  }
}

function problem(status: number, code: string, facts: object = {}): HttpAnswer {
  return { status, body: { code, ...facts } };
}
