import type { PaymentId } from "../domain/identifiers";
import type { OperationContext } from "./operations/operation-context";
import type { AuthorizationLookup } from "./ports/authorization-lookup";
import type { LockProvider } from "./ports/lock-provider";
import { AuthorizePayment } from "./use-cases/authorize-payment";
import { CapturePayment } from "./use-cases/capture-payment";
import { ExpireAuthorizations } from "./use-cases/expire-authorizations";
import { ImportAuthorization, type GatewayAccount } from "./use-cases/import-authorization";
import { ObservePayment } from "./use-cases/observe-payment";
import { ReadPayments } from "./use-cases/read-payments";
import { ReconcileOperations } from "./use-cases/reconcile-operations";
import { RefundPayment } from "./use-cases/refund-payment";
import { ReviewOperations } from "./use-cases/review-operations";
import { VoidPayment } from "./use-cases/void-payment";

/** What a world of payments is made of. Two worlds share none of it. */
export interface PaymentWorldParts {
  readonly locks: LockProvider;
  readonly operations: OperationContext;
  readonly authorizations: AuthorizationLookup;
  readonly account: GatewayAccount;
  /** Where background work tells of a payment that it could not finish; it goes on with the others. */
  readonly onError: (error: unknown, paymentId: PaymentId) => void;
  /** Default: what clocks of several machines need. */
  readonly expiryGraceMs?: number | undefined;
}

export type PaymentUseCases = ReturnType<typeof paymentUseCases>;

/** Everything that can be done with payments, over one store, one gateway and one lock provider: live, or in a sandbox. */
export function paymentUseCases(parts: PaymentWorldParts) {
  const { locks, operations, authorizations, account, onError, expiryGraceMs } = parts;
  return {
    authorizePayment: new AuthorizePayment(locks, operations),
    importAuthorization: new ImportAuthorization(locks, operations, authorizations, account),
    capturePayment: new CapturePayment(locks, operations),
    voidPayment: new VoidPayment(locks, operations),
    refundPayment: new RefundPayment(locks, operations),
    readPayments: new ReadPayments(operations.payments),
    observePayment: new ObservePayment(locks, operations),
    reviewOperations: new ReviewOperations(locks, operations),
    reconcileOperations: new ReconcileOperations(locks, operations, onError),
    expireAuthorizations: new ExpireAuthorizations(locks, operations, onError, expiryGraceMs),
  };
}
