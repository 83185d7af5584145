import type { MerchantId } from "../../../domain/identifiers";
import type { WebhookEndpoint, WebhookEndpointId } from "../../../domain/webhooks/webhook-endpoint";
import type { Page } from "../payment-repository";
import type { WebhookPageQuery } from "./webhook-store";

/** Every adapter MUST begin an endpoint behind what was fanned out when it was made, and behind the position it is given. */
export interface WebhookEndpointStore {
  /** False where the merchant has `limit` already. Of those that are made at the same instant, a few more may get through. */
  create(endpoint: WebhookEndpoint, startsAfter: number, limit: number): Promise<boolean>;
  find(id: WebhookEndpointId): Promise<WebhookEndpoint | null>;
  /** Of one merchant, in the order in which they were made. Rejects with `InvalidCursorError`. */
  list(merchant: MerchantId, query: WebhookPageQuery): Promise<Page<WebhookEndpoint>>;
  /** Null where it is unknown or deleted, or where its current secret is not `ifSecret`. */
  change(id: WebhookEndpointId, change: EndpointChange, ifSecret?: string): Promise<WebhookEndpoint | null>;
  /** From then on nobody finds it. Its secrets are gone at once. */
  delete(id: WebhookEndpointId, at: Date): Promise<boolean>;
  countDisabled(): Promise<number>;
  /**
   * Of all secrets that are needed at this time or later, one of those that begin with the same characters, so many: where
   * these tell the key, it shows whether all keys are there.
   */
  secretsByBeginning(now: Date, characters: number): Promise<readonly StoredSecret[]>;
  /** Those that are neither disabled nor deleted. */
  listeners(): Promise<readonly Listener[]>;
}

export type EndpointChange = Partial<
  Pick<WebhookEndpoint, "url" | "types" | "description" | "ordered" | "secrets" | "disabled">
> & { readonly updatedAt: Date };

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
