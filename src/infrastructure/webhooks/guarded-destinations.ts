import type { LookupAddress } from "node:dns";
import type { WebhookDestinations } from "../../application/ports/events/webhook-sender";
import { WebhookError } from "../../domain/webhooks/errors";
import { adviceOn, type WebhookAllowances } from "./address-rules";
import {
  firstRefusal,
  refusalOfHost,
  resolveBySystem,
  type AddressForbiddenError,
  type Resolve,
} from "./guarded-lookup";
import { webhookUrl } from "./webhook-url";

/** A name server that says nothing must not keep a caller: what it would have said is checked at each attempt. */
const LOOKUP_MS = 2_000;

/** Says at once, and in words, what each attempt would find out. Opens no connection. */
export class GuardedDestinations implements WebhookDestinations {
  constructor(
    private readonly allowed: WebhookAllowances,
    private readonly resolve: Resolve = resolveBySystem,
  ) {}

  async assertAllowed(text: string): Promise<string> {
    const url = webhookUrl(text, this.allowed);
    const { hostname } = url;
    const refused =
      refusalOfHost(hostname, this.allowed) ??
      firstRefusal(hostname, await this.addressesOf(hostname), this.allowed);
    if (refused !== null) throw forbidden(refused);
    return url.href;
  }

  private addressesOf(host: string): Promise<readonly LookupAddress[]> {
    return new Promise((found) => {
      const timer = setTimeout(() => found([]), LOOKUP_MS);
      this.resolve(host, (_error, addresses) => {
        clearTimeout(timer);
        found(addresses);
      });
    });
  }
}

function forbidden({ message }: AddressForbiddenError): WebhookError {
  return new WebhookError(
    "webhook_url_address_forbidden",
    `No webhook can be sent there: ${message}. ${adviceOn(message)}`,
  );
}
