import type { MerchantId } from "../identifiers";
import { WebhookError } from "./errors";
import { isDead } from "./schedule";

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };
export type WebhookEndpointId = Branded<"WebhookEndpointId">;
export type WebhookDeliveryId = Branded<"WebhookDeliveryId">;

/** `gone`: its receiver answered 410. `failing`: five days of failures. `merchant`: by request. */
export type DisabledReason = "gone" | "failing" | "merchant";

/** Where a merchant wants to be told what happens. */
export interface WebhookEndpoint {
  readonly id: WebhookEndpointId;
  readonly merchant: MerchantId;
  readonly url: string;
  /** Null: all, also those that there will be later. */
  readonly types: readonly string[] | null;
  readonly description: string | null;
  /** The next event of a payment waits for the one before it. */
  readonly ordered: boolean;
  readonly secrets: SealedSecrets;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  readonly disabled: { readonly at: Date; readonly reason: DisabledReason } | null;
  readonly failing: Failing | null;
}

/** Not readable here. While one takes over from the other, deliveries are signed with both. */
export interface SealedSecrets {
  readonly current: string;
  readonly previous: { readonly sealed: string; readonly until: Date } | null;
}

/** Of a time in which nothing was delivered. */
export interface Failing {
  readonly since: Date;
  readonly last: Date;
}

/** Twice the longest step of the schedule: between two attempts of one delivery there is never more. */
export const QUIET_MS = 48 * 3_600_000;

/** After one more failure. One that comes after a long silence begins anew: nobody knows what would have been delivered. */
export function failingAfter(before: Failing | null, now: Date): Failing {
  const isNew = before === null || now.getTime() - before.last.getTime() > QUIET_MS;
  return { since: isNew ? now : before.since, last: now };
}

export function isToBeDisabled(failing: Failing): boolean {
  return isDead(failing.since, failing.last);
}

/** Whether events of this type and merchant go there. */
export function wants(
  { merchant, types }: Pick<WebhookEndpoint, "merchant" | "types">,
  event: { readonly merchant: MerchantId; readonly type: string },
): boolean {
  return merchant === event.merchant && (types === null || types.includes(event.type));
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export function parseWebhookEndpointId(text: string): WebhookEndpointId {
  const id = text.toLowerCase();
  if (!UUID.test(id))
    throw new WebhookError("invalid_webhook_endpoint_id", "A webhook endpoint's id is a UUID.");
  return id as WebhookEndpointId;
}

export function parseWebhookDeliveryId(text: string): WebhookDeliveryId {
  const id = text.toLowerCase();
  if (!UUID.test(id))
    throw new WebhookError("invalid_webhook_delivery_id", "A webhook delivery's id is a UUID.");
  return id as WebhookDeliveryId;
}
