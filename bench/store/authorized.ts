import { visibleStatus } from "../../src/domain/payment/payment";
import { randomUUID } from "node:crypto";
import type { OperationOutcome } from "../../src/application/operations/operation-outcome";
import type { Caller } from "../../src/application/operations/caller";
import { AuthorizePayment } from "../../src/application/use-cases/authorize-payment";
import { CapturePayment, type CapturePaymentCommand } from "../../src/application/use-cases/capture-payment";
import type { Application } from "../../src/infrastructure/composition/opening/open-application";
import { parseIdempotencyKey, parseMerchantId, parsePaymentId } from "../../src/domain/identifiers";
import { money, parseCurrency } from "../../src/domain/money";
import { numbered } from "./numbered-payments";

const caller: Caller = { merchant: parseMerchantId("default"), actor: { apiKey: null, requestId: "bench" } };

/** Authorizes one payment for real, for the others to be copied from; resolves with its id. */
export async function authorizeOne({ container }: Application): Promise<string> {
  const { payment } = await container.get(AuthorizePayment).execute(
    {
      idempotencyKey: parseIdempotencyKey(randomUUID()),
      amount: money(1_000n, parseCurrency("EUR")),
      paymentMethod: "tok_ok",
      reference: null,
      metadata: {},
      expiresInSeconds: 7 * 86_400,
    },
    caller,
  );
  if (visibleStatus(payment) !== "authorized") throw new Error(`the payment is ${visibleStatus(payment)}`);
  return payment.facts.id;
}

/** Captures the n-th copy. */
export function capture(application: Application, original: string, n: number): Promise<OperationOutcome> {
  return captureOf(application, numbered(original, n));
}

export async function captureOf({ container }: Application, paymentId: string): Promise<OperationOutcome> {
  const command: CapturePaymentCommand = {
    paymentId: parsePaymentId(paymentId),
    idempotencyKey: parseIdempotencyKey(randomUUID()),
    amount: 1_000n,
    currency: parseCurrency("EUR"),
  };
  const outcome = await container.get(CapturePayment).execute(command, caller);
  if (outcome.operation.status !== "succeeded") throw new Error(`the capture is ${outcome.operation.status}`);
  return outcome;
}
