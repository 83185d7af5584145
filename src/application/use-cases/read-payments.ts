import type { MerchantId, OperationId, PaymentId } from "../../domain/identifiers";
import type { Payment } from "../../domain/payment/payment";
import { PaymentError } from "../../domain/payment/errors";
import type { PaymentEvent } from "../../domain/payment/events";
import type {
  EventQuery,
  Page,
  PaymentQuery,
  PaymentRepository,
  ReviewItem,
} from "../ports/payment-repository";

/** Looks, and changes nothing. Another merchant's payment does not exist. */
export class ReadPayments {
  constructor(private readonly payments: PaymentRepository) {}

  /** `merchant`: whose payment it has to be; null for an operator, who may look at any. */
  async one(id: PaymentId, merchant: MerchantId | null): Promise<Payment> {
    const stored = await this.payments.find(id);
    if (stored === null || (merchant !== null && stored.payment.facts.merchant !== merchant))
      throw new PaymentError("payment_not_found", { paymentId: id });
    return stored.payment;
  }

  list(query: PaymentQuery): Promise<Page<Payment>> {
    return this.payments.list(query);
  }

  /** Those of which the gateway calls the authorization or a movement so. */
  async byGatewayReference(
    reference: string,
    merchant: MerchantId | null,
    limit: number,
  ): Promise<readonly Payment[]> {
    const ids = await this.payments.findByGatewayReference(reference, limit);
    const stored = await Promise.all(ids.map((id) => this.payments.find(id)));
    return stored.flatMap((one) =>
      one === null || (merchant !== null && one.payment.facts.merchant !== merchant) ? [] : [one.payment],
    );
  }

  /** The payment of an operation; null where there is none for this merchant. */
  async byOperation(id: OperationId, merchant: MerchantId | null): Promise<Payment | null> {
    const paymentId = await this.payments.findByOperation(id);
    const stored = paymentId === null ? null : await this.payments.find(paymentId);
    if (stored === null || (merchant !== null && stored.payment.facts.merchant !== merchant)) return null;
    return stored.payment;
  }

  /** Operations whose outcome the gateway has not told, the oldest first. */
  unknown(merchant: MerchantId | null, limit: number): Promise<readonly ReviewItem[]> {
    return this.payments.unknownOperations(merchant, limit);
  }

  async history(id: PaymentId, merchant: MerchantId | null, query: EventQuery): Promise<Page<PaymentEvent>> {
    await this.one(id, merchant);
    return (await this.payments.eventPage(id, query)) ?? { data: [], nextCursor: null };
  }
}
