import { initialSchema } from "./versions/from-0001/0001-initial-schema";
import { onePaymentPerAuthorization } from "./versions/from-0001/0002-one-payment-per-authorization";
import { currencyExponentKept } from "./versions/from-0001/0003-currency-exponent";
import { settledSequenceKept } from "./versions/from-0001/0004-settled-sequence";
import { unsentAuthorizationsLapse } from "./versions/from-0001/0005-unsent-authorizations-lapse";
import { reviewsAreAskedAbout } from "./versions/from-0001/0006-reviews-are-asked-about";
import { correctedSequenceKept } from "./versions/from-0001/0007-corrected-sequence";
import { publicEvents } from "./versions/from-0001/0008-public-events";
import { webhooks } from "./versions/from-0001/0009-webhooks";
import { movementsElsewhere } from "./versions/from-0010/0010-movements-elsewhere";
import { gatewayHints } from "./versions/from-0010/0011-gateway-hints";
import { accountsOfMerchants } from "./versions/from-0010/0012-accounts-of-merchants";
import { answersThatComeLater } from "./versions/from-0010/0013-answers-that-come-later";
import { customerActions } from "./versions/from-0010/0014-customer-actions";
import { accountsWithKeys } from "./versions/from-0010/0015-accounts-with-keys";
import { consoleOfOperators } from "./versions/from-0010/0016-console";
import { audit } from "./versions/from-0010/0017-audit";
import { traceContexts } from "./versions/from-0010/0018-trace-contexts";
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
  answersThatComeLater,
  customerActions,
  accountsWithKeys,
  consoleOfOperators,
  audit,
  traceContexts,
];
