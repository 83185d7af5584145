import { createHash } from "node:crypto";
import type { MerchantId } from "../../domain/identifiers";
import { entryOf, type Act } from "../audit/act";
import type { ApiKey, ApiKeyStore } from "../ports/api-key-store";
import type { Clock } from "../ports/clock";
import type { IdGenerator } from "../ports/id-generator";

/** How much of a secret may be shown, so that people can tell their keys apart. */
const SHOWN_CHARACTERS = 11;

export interface CreatedApiKey {
  readonly key: ApiKey;
  /** Told once, and stored nowhere. */
  readonly secret: string;
}

export interface NewKeyWish {
  readonly merchant: MerchantId;
  readonly operator: boolean;
  readonly name: string | null;
}

/** Makes, lists and revokes the keys that callers show. */
export class ManageApiKeys {
  constructor(
    private readonly keys: ApiKeyStore,
    private readonly clock: Clock,
    private readonly ids: IdGenerator,
    /** At least 128 unguessable bits, as text. */
    private readonly newSecret: () => string,
  ) {}

  async create({ merchant, operator, name }: NewKeyWish, act: Act): Promise<CreatedApiKey> {
    const secret = this.newSecret();
    const id = this.ids.nextId();
    const details = { operator, name };
    const entry = entryOf(act, { kind: "api_key.created", subject: id, merchant, details }, this.parts);
    const made = {
      id,
      merchant,
      operator,
      name,
      prefix: secret.slice(0, SHOWN_CHARACTERS),
      secretHash: createHash("sha256").update(secret).digest("hex"),
      createdAt: entry.at,
    };
    return { key: await this.keys.create(made, entry), secret };
  }

  list(): Promise<readonly ApiKey[]> {
    return this.keys.list();
  }

  /** Null for an unknown key. */
  revoke(id: string, act: Act): Promise<ApiKey | null> {
    const entry = entryOf(act, { kind: "api_key.revoked", subject: id }, this.parts);
    return this.keys.revoke(id, entry.at, entry);
  }

  private get parts() {
    return { clock: this.clock, ids: this.ids };
  }
}
