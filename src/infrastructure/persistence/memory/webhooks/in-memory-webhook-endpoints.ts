import type { AuditEntry } from "../../../../application/ports/audit/audit-trail";
import type { Page } from "../../../../application/ports/payment-repository";
import type {
  ChangeOptions,
  EndpointChange,
  EndpointQuery,
  Listener,
  StoredSecret,
  WebhookEndpointStore,
} from "../../../../application/ports/events/webhook-endpoint-store";
import type { MerchantId } from "../../../../domain/identifiers";
import type { WebhookEndpoint, WebhookEndpointId } from "../../../../domain/webhooks/webhook-endpoint";
import { idPage, readIdCursor } from "../../webhooks/webhook-cursor";
import type { InMemoryAuditTrail } from "../in-memory-audit-trail";
import type { WebhookMemory } from "./webhook-memory";

export class InMemoryWebhookEndpoints implements WebhookEndpointStore {
  constructor(
    private readonly memory: WebhookMemory,
    private readonly trail: InMemoryAuditTrail,
  ) {}

  async create(
    endpoint: WebhookEndpoint,
    startsAfter: number,
    limit: number,
    entry?: AuditEntry,
  ): Promise<boolean> {
    const theirs = this.all().filter(({ merchant }) => merchant === endpoint.merchant);
    if (theirs.length >= limit) return false;
    const behind = Math.max(startsAfter, this.memory.state.position);
    this.memory.endpoints.set(endpoint.id, { endpoint, startsAfter: behind });
    this.changed(entry);
    return true;
  }

  async find(id: WebhookEndpointId): Promise<WebhookEndpoint | null> {
    return this.memory.endpoints.get(id)?.endpoint ?? null;
  }

  async list(merchant: MerchantId | null, query: EndpointQuery): Promise<Page<WebhookEndpoint>> {
    const after = query.cursor === undefined ? "" : readIdCursor(query.cursor);
    const found = this.all()
      .filter((one) => (merchant === null || one.merchant === merchant) && one.id > after)
      .filter((one) => query.disabled !== true || one.disabled !== null)
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    return idPage(found, query.limit);
  }

  async change(
    id: WebhookEndpointId,
    change: EndpointChange,
    { ifSecret, entry }: ChangeOptions = {},
  ): Promise<WebhookEndpoint | null> {
    const stored = this.memory.endpoints.get(id);
    if (stored === undefined) return null;
    if (ifSecret !== undefined && stored.endpoint.secrets.current !== ifSecret) return null;
    const enabled = change.disabled === null ? { failing: null } : {};
    const endpoint = { ...stored.endpoint, ...change, ...enabled };
    this.memory.endpoints.set(id, { ...stored, endpoint });
    this.changed(entry);
    return endpoint;
  }

  async delete(id: WebhookEndpointId, _at: Date, entry?: AuditEntry): Promise<boolean> {
    const { memory } = this;
    const wasThere = memory.endpoints.delete(id);
    for (const { id: deliveryId, endpointId } of memory.deliveries.values())
      if (endpointId === id) memory.drop(deliveryId);
    memory.pending.delete(id);
    this.changed(wasThere ? entry : undefined);
    return wasThere;
  }

  async countDisabled(): Promise<number> {
    return this.all().filter(({ disabled }) => disabled !== null).length;
  }

  async secretsByBeginning(now: Date, characters: number): Promise<readonly StoredSecret[]> {
    const needed = this.all().flatMap(({ id: endpointId, secrets: { current, previous } }) => {
      const isPreviousNeeded = previous !== null && previous.until > now;
      return [current, ...(isPreviousNeeded ? [previous.sealed] : [])].map((sealed) => ({
        endpointId,
        sealed,
      }));
    });
    return [...new Map(needed.map((one) => [one.sealed.slice(0, characters), one])).values()];
  }

  async listeners(): Promise<readonly Listener[]> {
    return [...this.memory.endpoints.values()]
      .filter(({ endpoint }) => endpoint.disabled === null)
      .map(({ endpoint: { id, merchant, types }, startsAfter }) => ({ id, merchant, types, startsAfter }));
  }

  private changed(entry: AuditEntry | undefined): void {
    this.memory.endpointsChanged();
    if (entry !== undefined) this.trail.keep(entry);
  }

  private all(): readonly WebhookEndpoint[] {
    return [...this.memory.endpoints.values()].map(({ endpoint }) => endpoint);
  }
}
