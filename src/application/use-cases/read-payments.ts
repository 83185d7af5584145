import type { MerchantId, PaymentId } from "../../domain/identifiers";
import type { Payment } from "../../domain/payment/payment";
import { PaymentError } from "../../domain/payment/errors";
import type { PaymentEvent } from "../../domain/payment/events";
import type { EventQuery, Page, PaymentQuery, PaymentRepository } from "../ports/payment-repository";

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

  async history(id: PaymentId, merchant: MerchantId | null, query: EventQuery): Promise<Page<PaymentEvent>> {
    await this.one(id, merchant);
    return (await this.payments.eventPage(id, query)) ?? { data: [], nextCursor: null };
  }
}
