import type { PaymentUseCases } from "../../../application/payment-use-cases";
import { AuthenticateCaller } from "../../../application/use-cases/authenticate-caller";
import { AuthorizePayment } from "../../../application/use-cases/authorize-payment";
import { CapturePayment } from "../../../application/use-cases/capture-payment";
import { ConsoleSessions } from "../../../application/use-cases/console-sessions";
import { ExpireAuthorizations } from "../../../application/use-cases/expire-authorizations";
import { ImportAuthorization } from "../../../application/use-cases/import-authorization";
import { ManageApiKeys } from "../../../application/use-cases/manage-api-keys";
import { ManageMerchantAccounts } from "../../../application/use-cases/manage-merchant-accounts";
import { ObservePayment } from "../../../application/use-cases/observe-payment";
import { ReadPayments } from "../../../application/use-cases/read-payments";
import { ReconcileOperations } from "../../../application/use-cases/reconcile-operations";
import { RefundPayment } from "../../../application/use-cases/refund-payment";
import { ReviewOperations } from "../../../application/use-cases/review-operations";
import { VoidPayment } from "../../../application/use-cases/void-payment";
import type { TokensByName } from "./assembles";
import { constructs } from "./constructs";
import { tokens } from "./tokens";

const { locks, operations, authorizationLookup, gatewayAccount, apiKeys, clock, ids, newSecret } = tokens;

/** Each use case of live payments, and what its constructor is given: the same that a sandbox has, or it does not compile. */
export const liveUseCases = {
  authorizePayment: constructs(AuthorizePayment, [locks, operations]),
  importAuthorization: constructs(ImportAuthorization, [
    locks,
    operations,
    authorizationLookup,
    gatewayAccount,
  ]),
  capturePayment: constructs(CapturePayment, [locks, operations]),
  voidPayment: constructs(VoidPayment, [locks, operations]),
  refundPayment: constructs(RefundPayment, [locks, operations]),
  readPayments: constructs(ReadPayments, [tokens.payments]),
  observePayment: constructs(ObservePayment, [locks, operations]),
  reviewOperations: constructs(ReviewOperations, [locks, operations]),
  reconcileOperations: constructs(ReconcileOperations, [locks, operations, tokens.reconcilingFailed]),
  expireAuthorizations: constructs(ExpireAuthorizations, [locks, operations, tokens.expiringFailed]),
} satisfies TokensByName<PaymentUseCases>;

/** Who may call, and who says so. */
export const callerUseCases = {
  authenticate: constructs(AuthenticateCaller, [apiKeys]),
  consoleSessions: constructs(ConsoleSessions, [
    AuthenticateCaller,
    tokens.consoleSessions,
    clock,
    tokens.newSessionId,
  ]),
  manageApiKeys: constructs(ManageApiKeys, [apiKeys, clock, ids, newSecret]),
};

/** What only commands on the store itself do. */
export const storeUseCases = {
  manageMerchantAccounts: constructs(ManageMerchantAccounts, [
    tokens.merchantAccounts,
    clock,
    ids,
    tokens.boxToSeal,
    tokens.askKeyOwner,
    tokens.stripeApiKey,
  ]),
};
