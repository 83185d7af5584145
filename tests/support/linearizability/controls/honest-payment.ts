import type { SeededRandom } from "../../../simulation/lease/seeded-random";
import type { HttpAnswer, HttpRequest } from "../history/http-call";

interface Done {
  readonly id: string;
  readonly kind: string;
  readonly amount: number;
  readonly content: string;
  is: "open" | "not sent" | "succeeded" | "failed";
  final: HttpAnswer | null;
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
  private readonly moves: { kind: string; gatewayKey: string; amount: number }[] = [];

  constructor(
    private readonly id: string,
    private readonly random: SeededRandom,
  ) {}

  get isOpen(): boolean {
    return this.open !== null;
  }

  /** The answer, or that the request waits for the gateway. */
  arrive(request: HttpRequest): HttpAnswer | "sent" {
    if (request.path.startsWith("/gateway")) return { status: 200, body: { moves: [...this.moves] } };
    if (request.method === "GET") return { status: 200, body: { payment: this.shown() } };
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
    if (own.is === "open" && this.random.chance(0.2)) {
      own.is = "not sent";
      this.open = null;
    }
    return own.is === "not sent" ? problem(503, "gateway_unavailable") : this.unknown(own);
  }

  /** The gateway answers, whether or not a request still waits for it. */
  settle(): void {
    const own = this.open;
    if (own === null) return;
    this.open = null;
    own.is = "succeeded";
    this.moves.push({ kind: own.kind, gatewayKey: own.id, amount: own.amount });
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
