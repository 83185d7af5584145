import { z } from "zod";
import type { OperationOutcome } from "../../application/operations/operation-outcome";
import { publicOperation, publicPayment } from "../../application/public-events/public-payment";
import { isOpen } from "../../domain/payment/operation";
import { parseIdempotencyKey, parsePaymentId, type IdempotencyKey } from "../../domain/identifiers";
import type {
  Captured,
  CaptureRequest,
  NewPaymentRequest,
  Observed,
  OnePayment,
  Payment,
  PaymentEvent,
  PaymentList,
  RefundRequest,
  Refunded,
  Voided,
} from "../client/generated/schemas";
import type { Operations } from "../client/generated/operations";
import { presentObserved } from "../http/endpoints/gateway/observe-payment";
import { beginPayment, newPaymentSchema } from "../http/endpoints/payments/authorize-payment";
import { partOfAmount } from "../http/endpoints/payments/part-of-amount";
import { listPaymentsQuery } from "../http/endpoints/payments/list-payments";
import type { PaymentWorld } from "../http/endpoints/payments/payment-parts";
import { presentEvent, presentEventToMerchant } from "../http/endpoints/payments/present-event";
import { presentPayment } from "../http/endpoints/payments/present-payment";
import { callerFrom, type EmbeddedCaller } from "./embedded-caller";
import { requestFor } from "./request-for";

/** A movement, and whether its outcome is known. While it is not, the same call with the same key asks again. */
export interface Moved<Answer> {
  readonly answer: Answer;
  readonly isSettled: boolean;
  /** Whether the answer had been stored before this call. */
  readonly isReplayed: boolean;
}

interface EmbeddedParts {
  /** Runs the work unless Holdfast is closing, and is waited for when it closes. */
  readonly inWorld: <T>(work: (world: PaymentWorld) => Promise<T>) => Promise<T>;
  readonly customerUrl: (path: string) => string;
}

const captureSchema = partOfAmount();
const refundSchema = partOfAmount();
const voidSchema = z.strictObject({});
const NAMES = ["paymentId", "idempotencyKey"] as const;

/**
 * The use cases of payments, for code in the same process: what the API takes and answers with, without HTTP. Rejects with
 * errors whose `code` is that of the API's problems.
 */
export class EmbeddedPayments {
  /** @internal */
  constructor(private readonly parts: EmbeddedParts) {}

  /** Authorizes an amount, or imports an authorization that was made elsewhere. */
  async authorize(
    request: NewPaymentRequest & { readonly idempotencyKey: string },
    as: EmbeddedCaller = {},
  ): Promise<Moved<OnePayment>> {
    const { idempotencyKey, ...wanted } = requestFor(request, newPaymentSchema(request), ["idempotencyKey"]);
    return this.move(
      idempotencyKey,
      (world, key) => beginPayment(world, wanted, key, callerFrom(as)),
      (outcome) => ({
        payment: presentPayment(outcome.payment, this.parts),
      }),
    );
  }

  /** Captures the payment once, in whole or in part. */
  async capture(
    request: CaptureRequest & { readonly paymentId: string; readonly idempotencyKey: string },
    as: EmbeddedCaller = {},
  ): Promise<Moved<Captured>> {
    const { paymentId, idempotencyKey, ...part } = requestFor(request, captureSchema, NAMES);
    return this.move(
      idempotencyKey,
      ({ capturePayment }, key) =>
        capturePayment.execute(
          { paymentId: parsePaymentId(paymentId), idempotencyKey: key, ...part },
          callerFrom(as),
        ),
      ({ operation, payment }) => ({ capture: publicOperation(operation), payment: publicPayment(payment) }),
    );
  }

  /** Releases what was authorized. */
  async void(
    request: { readonly paymentId: string; readonly idempotencyKey: string },
    as: EmbeddedCaller = {},
  ): Promise<Moved<Voided>> {
    const { paymentId, idempotencyKey } = requestFor(request, voidSchema, NAMES);
    return this.move(
      idempotencyKey,
      ({ voidPayment }, key) =>
        voidPayment.execute({ paymentId: parsePaymentId(paymentId), idempotencyKey: key }, callerFrom(as)),
      ({ operation, payment }) => ({ void: publicOperation(operation), payment: publicPayment(payment) }),
    );
  }

  /** Gives back what was captured, in whole or in part. */
  async refund(
    request: RefundRequest & { readonly paymentId: string; readonly idempotencyKey: string },
    as: EmbeddedCaller = {},
  ): Promise<Moved<Refunded>> {
    const { paymentId, idempotencyKey, ...part } = requestFor(request, refundSchema, NAMES);
    return this.move(
      idempotencyKey,
      ({ refundPayment }, key) =>
        refundPayment.execute(
          { paymentId: parsePaymentId(paymentId), idempotencyKey: key, ...part },
          callerFrom(as),
        ),
      ({ operation, payment }) => ({ refund: publicOperation(operation), payment: publicPayment(payment) }),
    );
  }

  async show(paymentId: string, as: EmbeddedCaller = {}): Promise<Payment> {
    const { merchant, operator } = callerFrom(as);
    return this.parts.inWorld(async ({ readPayments }) =>
      presentPayment(
        await readPayments.one(parsePaymentId(paymentId), operator === true ? null : merchant),
        this.parts,
      ),
    );
  }

  /** One page of the merchant's payments, newest first. */
  async list(
    query: NonNullable<Operations["listPayments"]["query"]> = {},
    as: EmbeddedCaller = {},
  ): Promise<PaymentList> {
    const { merchant } = callerFrom(as);
    const wanted = requestFor(query, listPaymentsQuery, []);
    return this.parts.inWorld(async ({ readPayments }) => {
      const { data, nextCursor } = await readPayments.list({ ...wanted, merchant });
      return { data: data.map((payment) => presentPayment(payment, this.parts)), nextCursor };
    });
  }

  /** What happened to a payment, from its beginning. */
  async history(paymentId: string, as: EmbeddedCaller = {}): Promise<readonly PaymentEvent[]> {
    const { merchant, operator } = callerFrom(as);
    const present = operator === true ? presentEvent : presentEventToMerchant;
    return this.parts.inWorld(async ({ readPayments }) => {
      const events: PaymentEvent[] = [];
      let cursor: string | undefined;
      do {
        const page = await readPayments.history(
          parsePaymentId(paymentId),
          operator === true ? null : merchant,
          {
            limit: 1_000,
            ...(cursor !== undefined && { cursor }),
          },
        );
        events.push(...page.data.map(present));
        cursor = page.nextCursor ?? undefined;
      } while (cursor !== undefined);
      return events;
    });
  }

  /** Compares the payment with what the gateway shows, and writes down what differs. */
  async observe(paymentId: string, as: EmbeddedCaller = {}): Promise<Observed> {
    return this.parts.inWorld(async ({ observePayment }) =>
      presentObserved(await observePayment.execute(parsePaymentId(paymentId), callerFrom(as), null)),
    );
  }

  private async move<Answer>(
    idempotencyKey: string,
    move: (world: PaymentWorld, key: IdempotencyKey) => Promise<OperationOutcome>,
    present: (outcome: OperationOutcome) => Answer,
  ): Promise<Moved<Answer>> {
    const key = parseIdempotencyKey(idempotencyKey);
    const outcome = await this.parts.inWorld((world) => move(world, key));
    return { answer: present(outcome), isSettled: !isOpen(outcome.operation), isReplayed: outcome.replayed };
  }
}
