import { createHash } from "node:crypto";
import type { ApiKey } from "../../src/application/ports/api-key-store";
import { StoreUnavailableError } from "../../src/application/ports/payment-repository";
import { parseMerchantId } from "../../src/domain/identifiers";

/** Keys that a test hands out and takes back. */
export class ListedKeys {
  down = false;
  private ever = false;
  private readonly bySecretHash = new Map<string, ApiKey>();
  private count = 0;

  add(secret: string, merchant: string, operator = false): void {
    this.ever = true;
    this.bySecretHash.set(hashOf(secret), {
      id: `key-${(this.count += 1)}`,
      merchant: parseMerchantId(merchant),
      operator,
      name: null,
      prefix: secret.slice(0, 4),
      createdAt: new Date(0),
      revokedAt: null,
      lastUsedAt: null,
    });
  }

  revoke(secret: string): void {
    this.bySecretHash.delete(hashOf(secret));
  }

  async findBySecretHash(secretHash: string): Promise<ApiKey | null> {
    if (this.down) throw new StoreUnavailableError("down");
    return this.bySecretHash.get(secretHash) ?? null;
  }

  async anyEverCreated(): Promise<boolean> {
    if (this.down) throw new StoreUnavailableError("down");
    return this.ever;
  }
}

function hashOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
