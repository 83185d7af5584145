import { createHash } from "node:crypto";
import type { Clock } from "../ports/clock";
import type { ConsoleSessionStore } from "../ports/console/console-session-store";
import type { AuthenticateCaller, AuthenticatedCaller } from "./authenticate-caller";

/** A working day. */
export const CONSOLE_SESSION_MS = 8 * 3_600_000;

/** Exchanges an API key for a session of the console, so that no browser keeps the key itself. */
export class ConsoleSessions {
  constructor(
    private readonly authenticate: Pick<AuthenticateCaller, "execute">,
    private readonly sessions: ConsoleSessionStore,
    private readonly clock: Clock,
    /** At least 128 unguessable bits, as text. */
    private readonly newSessionId: () => string,
  ) {}

  /** The id, told once and stored nowhere. Rejects with `UnauthorizedError`. Null where nobody has to sign in. */
  async signIn(secret: string): Promise<string | null> {
    const { keyId } = await this.authenticate.execute(secret);
    if (keyId === null) return null;
    const id = this.newSessionId();
    const createdAt = this.clock.now();
    const expiresAt = new Date(createdAt.getTime() + CONSOLE_SESSION_MS);
    await this.sessions.begin({ idHash: hashOf(id), keyId, createdAt, expiresAt });
    return id;
  }

  /** Whom a browser acts for; the API's answer where it has no session. Rejects with `UnauthorizedError`. */
  async callerOf(id: string | null): Promise<AuthenticatedCaller> {
    const key = id === null ? null : await this.sessions.keyOf(hashOf(id), this.clock.now());
    if (key === null) return this.authenticate.execute(null);
    return { merchant: key.merchant, operator: key.operator, keyId: key.id };
  }

  signOut(id: string): Promise<void> {
    return this.sessions.end(hashOf(id));
  }
}

function hashOf(id: string): string {
  return createHash("sha256").update(id).digest("hex");
}
