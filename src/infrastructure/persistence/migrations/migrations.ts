import { initialSchema } from "./0001-initial-schema";
import { onePaymentPerAuthorization } from "./0002-one-payment-per-authorization";
import { currencyExponentKept } from "./0003-currency-exponent";
import { settledSequenceKept } from "./0004-settled-sequence";
import { unsentAuthorizationsLapse } from "./0005-unsent-authorizations-lapse";
import { reviewsAreAskedAbout } from "./0006-reviews-are-asked-about";
import { correctedSequenceKept } from "./0007-corrected-sequence";
import { publicEvents } from "./0008-public-events";
import { webhooks } from "./0009-webhooks";
import { movementsElsewhere } from "./0012-movements-elsewhere";
import { gatewayHints } from "./0014-gateway-hints";
import { accountsOfMerchants } from "./0015-accounts-of-merchants";
import type { Migration } from "./migration";

/** In order, without gaps. */
export const migrations: readonly Migration[] = [
  initialSchema,
  onePaymentPerAuthorization,
  currencyExponentKept,
  settledSequenceKept,
  unsentAuthorizationsLapse,
  reviewsAreAskedAbout,
  correctedSequenceKept,
  publicEvents,
  webhooks,
  movementsElsewhere,
  gatewayHints,
  accountsOfMerchants,
];
