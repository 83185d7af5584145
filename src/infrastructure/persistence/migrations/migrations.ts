import { initialSchema } from "./0001-initial-schema";
import type { Migration } from "./migration";

/** In order, without gaps. */
export const migrations: readonly Migration[] = [initialSchema];
