import { ContainerModule } from "inversify";
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { AuthenticateCaller } from "../../application/use-cases/authenticate-caller";
import { AuthorizePayment } from "../../application/use-cases/authorize-payment";
import { CapturePayment } from "../../application/use-cases/capture-payment";
import { ExpireAuthorizations } from "../../application/use-cases/expire-authorizations";
import { ImportAuthorization } from "../../application/use-cases/import-authorization";
import { ManageApiKeys } from "../../application/use-cases/manage-api-keys";
import { ObservePayment } from "../../application/use-cases/observe-payment";
import { ReadPayments } from "../../application/use-cases/read-payments";
import { ReconcileOperations } from "../../application/use-cases/reconcile-operations";
import { RefundPayment } from "../../application/use-cases/refund-payment";
import { ReviewOperations } from "../../application/use-cases/review-operations";
import { VoidPayment } from "../../application/use-cases/void-payment";
import { UuidV7Generator } from "../identity/uuid-v7-generator";
import { tokens } from "./tokens";

/** `hf_` and 192 random bits. */
const newSecret = () => `hf_${randomBytes(24).toString("base64url")}`;

/** The use cases, on whatever the other modules provide. */
export function operationsModule(): ContainerModule {
  return new ContainerModule(({ bind }) => {
    bind(tokens.ids).toResolvedValue((clock) => new UuidV7Generator(clock), [tokens.clock]);
    bind(tokens.operations).toResolvedValue(
      (locks, payments, gateway, clock, ids) => ({
        locks,
        payments,
        gateway,
        clock,
        ids,
        random: Math.random,
        sleep: (ms) => sleep(ms),
      }),
      [tokens.locks, tokens.payments, tokens.gateway, tokens.clock, tokens.ids],
    );
    bind(tokens.authenticateCaller).toResolvedValue(
      (keys, clock) => new AuthenticateCaller(keys, clock),
      [tokens.apiKeys, tokens.clock],
    );
    bind(tokens.manageApiKeys).toResolvedValue(
      (keys, clock, ids) => new ManageApiKeys(keys, clock, ids, newSecret),
      [tokens.apiKeys, tokens.clock, tokens.ids],
    );
    bind(tokens.authorizePayment).toResolvedValue(
      (context) => new AuthorizePayment(context),
      [tokens.operations],
    );
    bind(tokens.capturePayment).toResolvedValue(
      (context) => new CapturePayment(context),
      [tokens.operations],
    );
    bind(tokens.importAuthorization).toResolvedValue(
      (context, lookup) => new ImportAuthorization(context, lookup, "shared"),
      [tokens.operations, tokens.authorizationLookup],
    );
    bind(tokens.voidPayment).toResolvedValue((context) => new VoidPayment(context), [tokens.operations]);
    bind(tokens.refundPayment).toResolvedValue((context) => new RefundPayment(context), [tokens.operations]);
    bind(tokens.observePayment).toResolvedValue(
      (context) => new ObservePayment(context),
      [tokens.operations],
    );
    bind(tokens.reviewOperations).toResolvedValue(
      (context) => new ReviewOperations(context),
      [tokens.operations],
    );
    bind(tokens.readPayments).toResolvedValue((payments) => new ReadPayments(payments), [tokens.payments]);
    bind(tokens.reconcileOperations).toResolvedValue(
      (context, logger) =>
        new ReconcileOperations(context, (error, paymentId) => {
          logger.error({ err: error, paymentId }, "reconciling a payment failed; the next pass tries again");
        }),
      [tokens.operations, tokens.logger],
    );
    bind(tokens.expireAuthorizations).toResolvedValue(
      (context, logger) =>
        new ExpireAuthorizations(context, (error, paymentId) => {
          logger.error({ err: error, paymentId }, "expiring a payment failed; the next pass tries again");
        }),
      [tokens.operations, tokens.logger],
    );
  });
}
