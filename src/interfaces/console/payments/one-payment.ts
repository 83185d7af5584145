import { parsePaymentId } from "../../../domain/identifiers";
import type { Payment } from "../../../domain/payment/payment";
import type { ConsoleParts } from "../console-parts";
import type { Visit } from "../serving/console-route";

/** The payment of the address, if it is one that the visitor may see. */
export function onePayment({ ids, whose }: Visit, { readPayments }: ConsoleParts): Promise<Payment> {
  return readPayments.one(parsePaymentId(ids["paymentId"] ?? ""), whose);
}
