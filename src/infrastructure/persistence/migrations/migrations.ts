import { initialSchema } from "./0001-initial-schema";
import { onePaymentPerAuthorization } from "./0002-one-payment-per-authorization";
import type { Migration } from "./migration";

/** In order, without gaps. */
export const migrations: readonly Migration[] = [initialSchema, onePaymentPerAuthorization];
