import { createHash } from "node:crypto";
import type { MerchantId } from "../../domain/identifiers";
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

  async create({ merchant, operator, name }: NewKeyWish): Promise<CreatedApiKey> {
    const secret = this.newSecret();
    const key = await this.keys.create({
      id: this.ids.nextId(),
      merchant,
      operator,
      name,
      prefix: secret.slice(0, SHOWN_CHARACTERS),
      secretHash: createHash("sha256").update(secret).digest("hex"),
      createdAt: this.clock.now(),
    });
    return { key, secret };
  }

  list(): Promise<readonly ApiKey[]> {
    return this.keys.list();
  }

  /** Null for an unknown key. */
  revoke(id: string): Promise<ApiKey | null> {
    return this.keys.revoke(id, this.clock.now());
  }
}
