import { WebhookError } from "../../domain/webhooks/errors";
import {
  parseWebhookEndpointId,
  type WebhookEndpoint,
  type WebhookEndpointId,
} from "../../domain/webhooks/webhook-endpoint";
import type { MerchantId } from "../../domain/identifiers";
import { entryOf, type Act, type Done } from "../audit/act";
import { InvalidCursorError, type Page } from "../ports/payment-repository";
import type { SecretBox } from "../ports/events/secret-box";
import type { WebhookDestinations } from "../ports/events/webhook-sender";
import type { EndpointChange, EndpointQuery } from "../ports/events/webhook-endpoint-store";
import { publicEventTypes } from "../public-events/public-event";
import { secretOf } from "./opened-secrets";
import { SECRET_BYTES, webhookSecret } from "./sign-webhook";
import type { WebhookContext } from "./webhook-context";

export interface EndpointWish {
  readonly url: string;
  readonly types: readonly string[] | null;
  readonly description: string | null;
  readonly ordered: boolean;
}

export interface EndpointPatch extends Partial<EndpointWish> {
  readonly enabled?: boolean;
}

export interface EndpointWithSecret {
  readonly endpoint: WebhookEndpoint;
  /** Told once, and readable nowhere afterwards. */
  readonly secret: string;
}

type Parts = Pick<WebhookContext, "store" | "feed" | "secrets" | "clock" | "ids" | "limits"> & {
  readonly destinations: WebhookDestinations;
  readonly randomBytes: (size: number) => Uint8Array;
  /** Rejects where others could not open what is sealed here. Left out: one process has all that was sealed. */
  readonly boxToSeal?: () => Promise<SecretBox>;
  /** Somebody may listen who did not before. */
  readonly onListening: () => void;
};

/** Where a merchant is told what happens. To others than its merchant an endpoint does not exist. */
export class ManageWebhookEndpoints {
  constructor(private readonly parts: Parts) {}

  async create(merchant: MerchantId, wish: EndpointWish, act: Act): Promise<EndpointWithSecret> {
    const { store, feed, clock, ids, limits, destinations } = this.parts;
    assertKnown(wish.types);
    const url = await destinations.assertAllowed(wish.url);
    const secrets = (await this.parts.boxToSeal?.()) ?? this.parts.secrets;
    const id = parseWebhookEndpointId(ids.nextId());
    const now = clock.now();
    const secret = this.newSecret();
    const endpoint: WebhookEndpoint = {
      ...wish,
      id,
      merchant,
      url,
      secrets: { current: secrets.seal(secret, secretOf({ id })), previous: null },
      createdAt: now,
      updatedAt: now,
      disabled: null,
      failing: null,
    };
    const done = { kind: "webhook_endpoint.created", subject: id, merchant, details: { url } } as const;
    const entry = entryOf(act, done, this.parts);
    if (!(await store.endpoints.create(endpoint, await feed.latest(), limits.endpoints, entry))) {
      throw new WebhookError(
        "webhook_endpoint_limit_reached",
        `A merchant has at most ${limits.endpoints} webhook endpoints: delete one that is not needed any more.`,
      );
    }
    this.parts.onListening();
    return { endpoint, secret };
  }

  async one(id: WebhookEndpointId, merchant: MerchantId): Promise<WebhookEndpoint> {
    const endpoint = await this.parts.store.endpoints.find(id);
    if (endpoint?.merchant !== merchant) throw notFound(id);
    return endpoint;
  }

  /** Whose it is, for an operator. */
  async merchantOf(id: WebhookEndpointId): Promise<MerchantId> {
    const endpoint = await this.parts.store.endpoints.find(id);
    if (endpoint === null) throw notFound(id);
    return endpoint.merchant;
  }

  /** `merchant`: null for an operator, who may look at all. */
  async list(merchant: MerchantId | null, query: EndpointQuery): Promise<Page<WebhookEndpoint>> {
    return cursorChecked(this.parts.store.endpoints.list(merchant, query));
  }

  async change(
    id: WebhookEndpointId,
    merchant: MerchantId,
    patch: EndpointPatch,
    act: Act,
  ): Promise<WebhookEndpoint> {
    const { enabled, url, ...rest } = patch;
    const before = await this.one(id, merchant);
    assertKnown(rest.types ?? null);
    const now = this.parts.clock.now();
    const change: EndpointChange = {
      ...rest,
      ...(url === undefined ? {} : { url: await this.parts.destinations.assertAllowed(url) }),
      ...(enabled === true ? { disabled: null } : {}),
      ...(enabled === false ? { disabled: before.disabled ?? { at: now, reason: "merchant" } } : {}),
      updatedAt: now,
    };
    const entry = entryOf(act, changeOf(before, merchant, patch), this.parts);
    const changed = found(id, await this.parts.store.endpoints.change(id, change, { entry }));
    this.parts.onListening();
    return changed;
  }

  async delete(id: WebhookEndpointId, merchant: MerchantId, act: Act): Promise<void> {
    const { url } = await this.one(id, merchant);
    const done = { kind: "webhook_endpoint.deleted", subject: id, merchant, details: { url } } as const;
    const entry = entryOf(act, done, this.parts);
    if (!(await this.parts.store.endpoints.delete(id, entry.at, entry))) throw notFound(id);
  }

  /**
   * From now on deliveries carry two signatures, until the overlap is over; 0 seconds: former secrets are void at once.
   * Within an overlap that is the only way: the receiver may know nothing but the secret before, and a third would void it.
   */
  async rotateSecret(
    id: WebhookEndpointId,
    merchant: MerchantId,
    overlapSeconds: number,
    act: Act,
  ): Promise<EndpointWithSecret> {
    const { store, secrets, clock } = this.parts;
    const before = await this.one(id, merchant);
    const secret = this.newSecret();
    const now = clock.now();
    const { current, previous } = before.secrets;
    if (overlapSeconds > 0 && previous !== null && previous.until > now) throw underWay(id, previous.until);
    const until = new Date(now.getTime() + overlapSeconds * 1_000);
    // Sealed again: once each secret was rotated, a key that was replaced is needed for none of them.
    const sealedAgain = () => secrets.seal(secrets.open(current, secretOf({ id })), secretOf({ id }));
    const change: EndpointChange = {
      secrets: {
        current: secrets.seal(secret, secretOf({ id })),
        previous: overlapSeconds === 0 ? null : { sealed: sealedAgain(), until },
      },
      updatedAt: now,
    };
    const done = {
      kind: "webhook_endpoint.secret_rotated",
      subject: id,
      merchant,
      details: { overlapSeconds },
    } as const;
    const options = { ifSecret: current, entry: entryOf(act, done, this.parts) };
    // Of two who rotate at once, one would else be told a secret that is void already.
    return {
      endpoint: found(id, await store.endpoints.change(id, change, options), "it has just been changed"),
      secret,
    };
  }

  private newSecret(): string {
    return webhookSecret(this.parts.randomBytes(SECRET_BYTES));
  }
}

/** Enabling and disabling have kinds of their own: they are what is asked about when something was not delivered. */
function changeOf(before: WebhookEndpoint, merchant: MerchantId, { enabled, ...rest }: EndpointPatch): Done {
  const isEnabling = enabled === true && before.disabled !== null;
  const isDisabling = enabled === false && before.disabled === null;
  const kind = isEnabling
    ? "webhook_endpoint.enabled"
    : isDisabling
      ? "webhook_endpoint.disabled"
      : "webhook_endpoint.changed";
  return { kind, subject: before.id, merchant, details: { ...rest } };
}

function assertKnown(types: readonly string[] | null): void {
  const unknown = (types ?? []).find((type) => !(publicEventTypes as readonly string[]).includes(type));
  if (unknown === undefined) return;
  throw new WebhookError(
    "webhook_type_unknown",
    `There are no events of type ${unknown}: there are ${publicEventTypes.join(", ")}.`,
  );
}

export function notFound(id: WebhookEndpointId): WebhookError {
  return new WebhookError("webhook_endpoint_not_found", `There is no webhook endpoint ${id}.`);
}

function underWay(id: WebhookEndpointId, until: Date): WebhookError {
  const previousSecretUntil = until.toISOString();
  return new WebhookError(
    "rotation_under_way",
    `The secret of webhook endpoint ${id} was rotated, and the one before verifies until ${previousSecretUntil}: rotate again ` +
      "then, or now with an overlap of 0 seconds, which voids both at once.",
    { previousSecretUntil },
  );
}

function found(id: WebhookEndpointId, endpoint: WebhookEndpoint | null, why = ""): WebhookEndpoint {
  if (endpoint === null && why !== "") {
    throw new WebhookError("webhook_endpoint_busy", `Webhook endpoint ${id} was not changed: ${why}.`);
  }
  if (endpoint === null) throw notFound(id);
  return endpoint;
}

/** Positions in lists of webhooks have a code of their own. */
export async function cursorChecked<T>(page: Promise<T>): Promise<T> {
  try {
    return await page;
  } catch (error) {
    if (!(error instanceof InvalidCursorError)) throw error;
    throw new WebhookError("invalid_webhook_cursor", "The cursor is not nextCursor of a page of this list.");
  }
}
