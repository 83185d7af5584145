import { z } from "zod";
import type { Caller } from "../../application/operations/caller";
import { parseMerchantId } from "../../domain/identifiers";
import { validInput } from "./valid-input";

/** On whose behalf, and for how long. */
export interface EmbeddedCaller {
  /** Default: `default`, as without API keys. */
  readonly merchant?: string;
  /** May read and act across merchants. */
  readonly operator?: boolean;
  /** Who or what asked, for the payment's history: `{ user: "u_17" }`. Never a secret. */
  readonly actor?: Readonly<Record<string, string>>;
  /** How long the payment's lock is waited for, in milliseconds. Default: the setting `lockTimeout`. */
  readonly lockTimeoutMs?: number | "infinite";
  /** Ends a wait for the lock. An operation that has begun goes on. */
  readonly signal?: AbortSignal;
}

const NO_TIMEOUT = "must be a number of milliseconds, 0 or more, or infinite";

/** A name that is misspelt would act for another merchant, or without a limit. */
const schema = z.strictObject({
  merchant: z.string("must be text").optional(),
  operator: z.boolean("must be true or false").optional(),
  actor: z.record(z.string(), z.string("must be text"), "must be an object of texts").optional(),
  lockTimeoutMs: z.union([z.literal("infinite"), z.number().min(0, NO_TIMEOUT)], NO_TIMEOUT).optional(),
  signal: z.custom<AbortSignal>(isSignal, "must be an AbortSignal").optional(),
});

/** That of another realm or of a library is one, too. */
function isSignal(given: unknown): boolean {
  const { aborted, addEventListener } = (given ?? {}) as Partial<AbortSignal>;
  return typeof aborted === "boolean" && typeof addEventListener === "function";
}

export function callerFrom(given: EmbeddedCaller): Caller {
  const { merchant = "default", operator, actor = {}, lockTimeoutMs, signal } = validInput(schema, given);
  return {
    merchant: parseMerchantId(merchant),
    ...(operator !== undefined && { operator }),
    actor: { ...actor, embedded: true },
    ...(lockTimeoutMs !== undefined && { lockTimeout: lockTimeoutMs }),
    ...(signal !== undefined && { signal }),
  };
}
