import type { ServiceIdentifier } from "inversify";
import type { Logger } from "pino";
import type { PrometheusContentType, Registry } from "prom-client";
import type { OperationContext } from "../../application/operations/operation-context";
import type { ApiKeyStore } from "../../application/ports/api-key-store";
import type { AuthorizationLookup } from "../../application/ports/authorization-lookup";
import type { Clock } from "../../application/ports/clock";
import type { IdGenerator } from "../../application/ports/id-generator";
import type { LockObserver } from "../../application/ports/lock-observer";
import type { LockProvider } from "../../application/ports/lock-provider";
import type { LockTimeoutPolicy } from "../../application/ports/lock-timeout";
import type { PaymentGateway } from "../../application/ports/payment-gateway";
import type { PaymentRepository } from "../../application/ports/payment-repository";
import type { StoreMigration } from "../../application/ports/store-migration";
import type { AuthenticateCaller } from "../../application/use-cases/authenticate-caller";
import type { AuthorizePayment } from "../../application/use-cases/authorize-payment";
import type { CapturePayment } from "../../application/use-cases/capture-payment";
import type { ExpireAuthorizations } from "../../application/use-cases/expire-authorizations";
import type { ImportAuthorization } from "../../application/use-cases/import-authorization";
import type { ManageApiKeys } from "../../application/use-cases/manage-api-keys";
import type { ObservePayment } from "../../application/use-cases/observe-payment";
import type { ReadPayments } from "../../application/use-cases/read-payments";
import type { ReconcileOperations } from "../../application/use-cases/reconcile-operations";
import type { RefundPayment } from "../../application/use-cases/refund-payment";
import type { ReviewOperations } from "../../application/use-cases/review-operations";
import type { VoidPayment } from "../../application/use-cases/void-payment";

/** Each names one thing and its type, so that binding or asking for the wrong one does not compile. */
export const tokens = {
  clock: token<Clock>("Clock"),
  ids: token<IdGenerator>("IdGenerator"),
  logger: token<Logger>("Logger"),
  metrics: token<Registry<PrometheusContentType>>("Registry"),
  lockTimeouts: token<LockTimeoutPolicy>("LockTimeoutPolicy"),
  locks: token<LockProvider>("LockProvider"),
  lockObserver: token<LockObserver>("LockObserver"),
  payments: token<PaymentRepository>("PaymentRepository"),
  apiKeys: token<ApiKeyStore>("ApiKeyStore"),
  migration: token<StoreMigration>("StoreMigration"),
  gateway: token<PaymentGateway>("PaymentGateway"),
  authorizationLookup: token<AuthorizationLookup>("AuthorizationLookup"),
  operations: token<OperationContext>("OperationContext"),
  authenticateCaller: token<AuthenticateCaller>("AuthenticateCaller"),
  authorizePayment: token<AuthorizePayment>("AuthorizePayment"),
  capturePayment: token<CapturePayment>("CapturePayment"),
  importAuthorization: token<ImportAuthorization>("ImportAuthorization"),
  voidPayment: token<VoidPayment>("VoidPayment"),
  refundPayment: token<RefundPayment>("RefundPayment"),
  observePayment: token<ObservePayment>("ObservePayment"),
  reviewOperations: token<ReviewOperations>("ReviewOperations"),
  readPayments: token<ReadPayments>("ReadPayments"),
  manageApiKeys: token<ManageApiKeys>("ManageApiKeys"),
  reconcileOperations: token<ReconcileOperations>("ReconcileOperations"),
  expireAuthorizations: token<ExpireAuthorizations>("ExpireAuthorizations"),
} as const;

function token<T>(name: string): ServiceIdentifier<T> {
  return Symbol(name);
}
