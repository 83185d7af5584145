import type { MerchantId } from "../../../domain/identifiers";
import type { WebhookEndpoint, WebhookEndpointId } from "../../../domain/webhooks/webhook-endpoint";
import type { AuditEntry } from "../audit/audit-trail";
import type { Page } from "../payment-repository";
import type { WebhookPageQuery } from "./webhook-store";

/**
 * Every adapter MUST begin an endpoint behind what was fanned out when it was made, and behind the position it is given;
 * and write an entry with the change that it tells of, as `AuditTrail` says.
 */
export interface WebhookEndpointStore {
  /** False where the merchant has `limit` already. Of those that are made at the same instant, a few more may get through. */
  create(endpoint: WebhookEndpoint, startsAfter: number, limit: number, entry?: AuditEntry): Promise<boolean>;
  find(id: WebhookEndpointId): Promise<WebhookEndpoint | null>;
  /** Of one merchant or of all, in the order in which they were made. Rejects with `InvalidCursorError`. */
  list(merchant: MerchantId | null, query: EndpointQuery): Promise<Page<WebhookEndpoint>>;
  /** Null where it is unknown or deleted, or where its current secret is not `ifSecret`. */
  change(
    id: WebhookEndpointId,
    change: EndpointChange,
    options?: ChangeOptions,
  ): Promise<WebhookEndpoint | null>;
  /** From then on nobody finds it. Its secrets are gone at once. */
  delete(id: WebhookEndpointId, at: Date, entry?: AuditEntry): Promise<boolean>;
  countDisabled(): Promise<number>;
  /**
   * Of all secrets that are needed at this time or later, one of those that begin with the same characters, so many: where
   * these tell the key, it shows whether all keys are there.
   */
  secretsByBeginning(now: Date, characters: number): Promise<readonly StoredSecret[]>;
  /** Those that are neither disabled nor deleted. */
  listeners(): Promise<readonly Listener[]>;
}

export interface EndpointQuery extends WebhookPageQuery {
  /** Only those that are disabled. */
  readonly disabled?: true;
}

export type EndpointChange = Partial<
  Pick<WebhookEndpoint, "url" | "types" | "description" | "ordered" | "secrets" | "disabled">
> & { readonly updatedAt: Date };

export interface ChangeOptions {
  readonly ifSecret?: string;
  readonly entry?: AuditEntry;
}

export interface StoredSecret {
  readonly endpointId: WebhookEndpointId;
  readonly sealed: string;
}

export interface Listener {
  readonly id: WebhookEndpointId;
  readonly merchant: MerchantId;
  readonly types: readonly string[] | null;
  /** Events up to here are not for it. */
  readonly startsAfter: number;
}
