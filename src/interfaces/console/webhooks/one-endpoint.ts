import type { MerchantId } from "../../../domain/identifiers";
import { parseWebhookEndpointId, type WebhookEndpoint } from "../../../domain/webhooks/webhook-endpoint";
import type { WebhookUseCases } from "../../http/endpoints/webhooks/webhook-parts";
import { RequestError } from "../../http/problems/request-error";
import type { ConsoleParts } from "../console-parts";
import type { Visit } from "../serving/console-route";

export interface TheirEndpoint {
  readonly endpoint: WebhookEndpoint;
  readonly merchant: MerchantId;
  readonly webhooks: WebhookUseCases;
}

/** The endpoint of the address, if it is one that the visitor may see: an operator acts for its merchant. */
export async function oneEndpoint({ ids, whose }: Visit, parts: ConsoleParts): Promise<TheirEndpoint> {
  const webhooks = withWebhooks(parts);
  const id = parseWebhookEndpointId(ids["endpointId"] ?? "");
  const merchant = whose ?? (await webhooks.webhookEndpoints.merchantOf(id));
  return { endpoint: await webhooks.webhookEndpoints.one(id, merchant), merchant, webhooks };
}

export function withWebhooks({ webhooks }: ConsoleParts): WebhookUseCases {
  if (webhooks === undefined) throw new RequestError("route_not_found", "This instance has no webhooks.");
  return webhooks;
}
