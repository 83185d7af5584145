import { createHash } from "node:crypto";
import { parseMerchantId, type MerchantId } from "../../domain/identifiers";
import type { ApiKeyStore } from "../ports/api-key-store";

/** Whom a request acts for. */
export interface AuthenticatedCaller {
  readonly merchant: MerchantId;
  /** May use the routes that look across merchants. */
  readonly operator: boolean;
  /** Null while no key has ever been created. Names the key; it is not the secret. */
  readonly keyId: string | null;
}

/** The request carries no key, or one that is not valid (any more). Which of these it is, nobody is told. */
export class UnauthorizedError extends Error {
  override readonly name = "UnauthorizedError";
  readonly code = "unauthorized";

  constructor() {
    super("A valid API key is required: Authorization: Bearer <key>.");
  }
}

/**
 * Finds out whom a secret belongs to. Secrets are looked up by their hash, so the time a comparison takes tells nothing
 * about how much of a guess was right.
 */
export class AuthenticateCaller {
  constructor(private readonly keys: Pick<ApiKeyStore, "findBySecretHash" | "anyEverCreated">) {}

  async execute(secret: string | null): Promise<AuthenticatedCaller> {
    if (!(await this.keys.anyEverCreated())) {
      return { merchant: parseMerchantId("default"), operator: true, keyId: null };
    }
    if (secret === null) throw new UnauthorizedError();
    const key = await this.keys.findBySecretHash(createHash("sha256").update(secret).digest("hex"));
    if (key === null) throw new UnauthorizedError();
    return { merchant: key.merchant, operator: key.operator, keyId: key.id };
  }
}
