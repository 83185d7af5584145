import { initialSchema } from "./versions/0001-initial-schema";
import { onePaymentPerAuthorization } from "./versions/0002-one-payment-per-authorization";
import { currencyExponentKept } from "./versions/0003-currency-exponent";
import { settledSequenceKept } from "./versions/0004-settled-sequence";
import { unsentAuthorizationsLapse } from "./versions/0005-unsent-authorizations-lapse";
import { reviewsAreAskedAbout } from "./versions/0006-reviews-are-asked-about";
import { correctedSequenceKept } from "./versions/0007-corrected-sequence";
import { publicEvents } from "./versions/0008-public-events";
import { webhooks } from "./versions/0009-webhooks";
import { movementsElsewhere } from "./versions/0010-movements-elsewhere";
import { gatewayHints } from "./versions/0011-gateway-hints";
import { accountsOfMerchants } from "./versions/0012-accounts-of-merchants";
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
