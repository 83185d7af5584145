import type {
  CaptureRequest,
  Captured,
  NewPaymentRequest,
  OnePayment,
  Payment,
  PaymentEvent,
  RefundRequest,
  Refunded,
  Voided,
} from "./generated/schemas";
import type { Patience } from "./exchange";
import type { Operations } from "./generated/operations";
import { checkMovement, checkOptions } from "./checked-call";
import { captureMany, type CaptureOrder, type CaptureOutcome } from "./capture-many";
import type { CallOptions } from "./holdfast-client";
import { Movement } from "./movement";
import type { Input, Wire } from "./wire";

export type MovingOperation =
  "authorizePayment" | "capturePayment" | "capturePayments" | "voidPayment" | "refundPayment";

/**
 * Payments of one server. Each method that moves money takes a name first: yours for what is to happen, such as
 * "order 17: capture". Whatever happens in between, the same name means the same movement.
 */
export class ClientPayments {
  /** @internal */
  constructor(private readonly wire: Wire) {}

  /** Authorizes an amount, or imports an authorization that was made elsewhere. */
  authorize(name: string, body: NewPaymentRequest, options?: CallOptions): Promise<Movement<OnePayment>> {
    return this.move("authorizePayment", name, { body }, options);
  }

  /** Captures the payment, in whole or in part. */
  capture(
    name: string,
    paymentId: string,
    body: CaptureRequest = {},
    options?: CallOptions,
  ): Promise<Movement<Captured>> {
    return this.move("capturePayment", name, { path: { paymentId }, body }, options);
  }

  /** Releases what was authorized. */
  void(name: string, paymentId: string, options?: CallOptions): Promise<Movement<Voided>> {
    return this.move("voidPayment", name, { path: { paymentId }, body: {} }, options);
  }

  /** Gives back what was captured, in whole or in part. */
  refund(
    name: string,
    paymentId: string,
    body: RefundRequest = {},
    options?: CallOptions,
  ): Promise<Movement<Refunded>> {
    return this.move("refundPayment", name, { path: { paymentId }, body }, options);
  }

  /** Captures many payments, up to 500 in a request, each as if alone. An outcome each, in their order. */
  captureMany(orders: readonly CaptureOrder[], options?: CallOptions): Promise<readonly CaptureOutcome[]> {
    return captureMany(this.wire, orders, options);
  }

  async show(paymentId: string, options?: CallOptions): Promise<Payment> {
    const { payment } = await this.wire.call("showPayment", { path: { paymentId } }, options);
    return payment;
  }

  /** All that match, newest first, a page at a time. */
  async *list(
    query: Operations["listPayments"]["query"] = {},
    options?: CallOptions,
  ): AsyncGenerator<Payment, void> {
    let cursor = query.cursor;
    do {
      const page = await this.wire.call(
        "listPayments",
        { query: { ...query, ...(cursor !== undefined && { cursor }) } },
        options,
      );
      yield* page.data;
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
  }

  /** What happened to a payment, from its beginning. */
  async *history(paymentId: string, options?: CallOptions): AsyncGenerator<PaymentEvent, void> {
    let cursor: string | undefined;
    do {
      const page = await this.wire.call(
        "listPaymentEvents",
        { path: { paymentId }, query: cursor === undefined ? {} : { cursor } },
        options,
      );
      yield* page.data;
      cursor = page.nextCursor ?? undefined;
    } while (cursor !== undefined);
  }

  private async move<Id extends Exclude<MovingOperation, "capturePayments">>(
    operation: Id,
    name: string,
    input: Input<Id>,
    options: CallOptions = {},
  ): Promise<Movement<Operations[Id]["answer"]>> {
    checkOptions(options);
    checkMovement((input as { readonly body: unknown }).body, "the body");
    const key = await this.wire.keyOf(name);
    const request = this.wire.request(operation, input, key);
    const answer = await this.wire.send(request, options);
    const repeat = (patience: Patience) => this.wire.send(request, patience);
    return new Movement(answer, key, repeat, this.wire.withinMs);
  }
}
