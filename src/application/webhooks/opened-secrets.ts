import type { WebhookEndpoint } from "../../domain/webhooks/webhook-endpoint";
import type { SecretBox } from "../ports/events/secret-box";

/** More than there are busy endpoints; a secret that was pushed out is opened again. */
const REMEMBERED = 1_000;

/** What the secrets of an endpoint are sealed for: moved to another endpoint, they do not open. */
export function secretOf({ id }: Pick<WebhookEndpoint, "id">): string {
  return `webhook endpoint ${id}`;
}

/** Opens each secret once and not at each delivery. What does not open is not remembered. */
export class OpenedSecrets {
  private readonly known = new Map<string, string>();

  constructor(private readonly secrets: SecretBox) {}

  open(sealed: string, endpoint: Pick<WebhookEndpoint, "id">): string {
    const name = `${endpoint.id} ${sealed}`;
    const known = this.known.get(name);
    if (known !== undefined) return known;
    const opened = this.secrets.open(sealed, secretOf(endpoint));
    for (const oldest of this.known.keys()) {
      if (this.known.size < REMEMBERED) break;
      this.known.delete(oldest);
    }
    this.known.set(name, opened);
    return opened;
  }
}
