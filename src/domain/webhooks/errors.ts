export type WebhookErrorCode =
  | "invalid_webhook_endpoint_id"
  | "invalid_webhook_delivery_id"
  | "invalid_webhook_cursor"
  | "webhook_url_malformed"
  | "webhook_url_not_https"
  | "webhook_url_has_credentials"
  | "webhook_url_port_forbidden"
  | "webhook_url_address_forbidden"
  | "webhook_type_unknown"
  | "webhook_endpoint_not_found"
  | "webhook_delivery_not_found"
  | "webhook_endpoint_limit_reached"
  | "webhook_endpoint_busy"
  | "webhook_endpoint_disabled"
  | "rotation_under_way"
  | "webhook_delivery_pending"
  | "webhook_replay_too_long";

/** Why something about webhooks is refused. Thrown; nothing is stored. */
export class WebhookError extends Error {
  override readonly name = "WebhookError";

  constructor(
    readonly code: WebhookErrorCode,
    message: string,
    readonly facts: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
  }
}
