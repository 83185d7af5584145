import type { ManageWebhookEndpoints } from "../../../../application/webhooks/manage-webhook-endpoints";
import type { RedeliverWebhooks } from "../../../../application/webhooks/redeliver-webhooks";
import type { ProblemCode } from "../../problems/problem-table";
import type { Lifecycle } from "../../server/lifecycle";

/** The webhooks of one world: the service's own, or a sandbox's. */
export interface WebhookUseCases {
  readonly webhookEndpoints: Pick<
    ManageWebhookEndpoints,
    "create" | "one" | "list" | "change" | "delete" | "rotateSecret" | "merchantOf"
  >;
  readonly webhookDeliveries: Pick<
    RedeliverWebhooks,
    "list" | "test" | "redeliver" | "replay" | "endpointOf"
  >;
}

export interface WebhookParts {
  /** Lends the webhooks of the world that is meant, for as long as the work takes. */
  readonly inWebhooks: <T>(work: (webhooks: WebhookUseCases) => Promise<T>) => Promise<T>;
  readonly lifecycle: Lifecycle;
}

/** What any request about one endpoint can be told. */
export const oneEndpointProblems = [
  "invalid_webhook_endpoint_id",
  "webhook_endpoint_not_found",
] as const satisfies readonly ProblemCode[];

/** What can be wrong with where an endpoint is and what it wants. */
export const wishProblems = [
  "webhook_url_malformed",
  "webhook_url_not_https",
  "webhook_url_has_credentials",
  "webhook_url_port_forbidden",
  "webhook_url_address_forbidden",
  "webhook_type_unknown",
] as const satisfies readonly ProblemCode[];

/** Where a secret has to be written or read, and this server has no key for it. */
export const secretProblems = [
  "secrets_key_missing",
  "secrets_key_wrong",
] as const satisfies readonly ProblemCode[];
