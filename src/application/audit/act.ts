import type { EventData } from "../../domain/payment/events";
import type { MerchantId, PaymentId } from "../../domain/identifiers";
import type { ActKind, AuditEntry } from "../ports/audit/audit-trail";
import type { Clock } from "../ports/clock";
import type { IdGenerator } from "../ports/id-generator";

/** Who does something that an auditor will ask about, from where, and why. Never a secret. */
export interface Act {
  readonly actor: Actor;
  readonly origin: Origin;
  /** In the person's own words; null where none were given. */
  readonly reason: string | null;
}

export type Actor =
  | { readonly type: "api_key"; readonly id: string }
  /** Of the operating system, at the command line. */
  | { readonly type: "user"; readonly name: string }
  /** As long as no key has ever been created: whoever reaches the server. */
  | { readonly type: "anyone" };

export type Origin =
  /** The address is that of the connection: behind a proxy, the proxy's. */
  | { readonly over: "http"; readonly address: string | null; readonly requestId: string }
  | { readonly over: "command"; readonly host: string };

/** What was done, and to what. */
export interface Done {
  readonly kind: ActKind;
  /** The id of what it was done to. */
  readonly subject: string;
  readonly merchant?: MerchantId;
  readonly paymentId?: PaymentId;
  readonly details?: EventData;
}

/** The entry that is to be written in the same transaction as what it tells of. */
export function entryOf(
  { actor, origin, reason }: Act,
  { kind, subject, merchant, paymentId, details }: Done,
  { clock, ids }: { readonly clock: Clock; readonly ids: IdGenerator },
): AuditEntry {
  return {
    id: ids.nextId(),
    at: clock.now(),
    kind,
    actor,
    origin,
    reason,
    subject,
    merchant: merchant ?? null,
    paymentId: paymentId ?? null,
    details: details ?? {},
  };
}
