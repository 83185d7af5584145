import { createHash } from "node:crypto";
import type { Act } from "../../../src/application/audit/act";
import {
  AuthenticateCaller,
  UnauthorizedError,
} from "../../../src/application/use-cases/authenticate-caller";
import { CONSOLE_SESSION_MS, ConsoleSessions } from "../../../src/application/use-cases/console-sessions";
import { ManageApiKeys } from "../../../src/application/use-cases/manage-api-keys";
import { OnlyWithKeys } from "../../../src/application/use-cases/only-with-keys";
import { parseMerchantId } from "../../../src/domain/identifiers";
import { InMemoryApiKeyStore } from "../../../src/infrastructure/persistence/memory/in-memory-api-key-store";
import { InMemoryAuditTrail } from "../../../src/infrastructure/persistence/memory/in-memory-audit-trail";
import { InMemoryConsoleSessionStore } from "../../../src/infrastructure/persistence/memory/in-memory-console-session-store";
import { TestClock } from "../../support/worlds/payments-world";

const SECRET = "hf_live_0123456789abcdef";
const HOUR = 3_600_000;
const acme = parseMerchantId("acme");
const act: Act = {
  actor: { type: "user", name: "ada" },
  origin: { over: "command", host: "here" },
  reason: "why",
};

let clock: TestClock;
let trail: InMemoryAuditTrail;
let keys: InMemoryApiKeyStore;
let manage: ManageApiKeys;
let authenticate: AuthenticateCaller;
let sessions: InMemoryConsoleSessionStore;
let signing: ConsoleSessions;

beforeEach(() => {
  clock = new TestClock();
  trail = new InMemoryAuditTrail();
  keys = new InMemoryApiKeyStore(trail);
  let ids = 0;
  manage = new ManageApiKeys(keys, clock, { nextId: () => `id-${(ids += 1)}` }, () => SECRET);
  authenticate = new AuthenticateCaller(keys);
  sessions = new InMemoryConsoleSessionStore(keys);
  let made = 0;
  signing = new ConsoleSessions(authenticate, sessions, clock, () => `session-${(made += 1)}`);
});

const wish = { merchant: acme, operator: true, name: "night shift" };

describe("the keys that callers show", () => {
  test("a key is made with its secret, which is told once: kept are its hash and its first eleven characters", async () => {
    const { key, secret } = await manage.create(wish, act);
    expect(secret).toBe(SECRET);
    const shown = {
      id: "id-1",
      merchant: "acme",
      operator: true,
      name: "night shift",
      prefix: "hf_live_012",
      createdAt: clock.now(),
      revokedAt: null,
      lastUsedAt: null,
    };
    expect(key).toEqual(shown);
    expect(await manage.list()).toEqual([shown]);
    const hash = createHash("sha256").update(SECRET).digest("hex");
    expect(await keys.findBySecretHash(hash)).toEqual(shown);
  });

  test("whoever makes or revokes a key is in the audit trail, with what they did it to", async () => {
    await manage.create(wish, act);
    clock.advance(HOUR);
    expect(await manage.revoke("id-1", act)).toMatchObject({ id: "id-1", revokedAt: clock.now() });
    expect(await manage.revoke("unknown", act)).toBeNull();
    const { data } = await trail.list({ limit: 10 });
    const common = { actor: act.actor, origin: act.origin, reason: "why", subject: "id-1", paymentId: null };
    expect(data.filter(({ subject }) => subject === "id-1")).toEqual([
      { ...common, id: "id-3", at: clock.now(), kind: "api_key.revoked", merchant: null, details: {} },
      {
        ...common,
        id: expect.any(String) as string,
        at: new Date(clock.now().getTime() - HOUR),
        kind: "api_key.created",
        merchant: "acme",
        details: { operator: true, name: "night shift" },
      },
    ]);
  });

  test("what is for callers with keys alone is closed as long as there is none", async () => {
    const only = new OnlyWithKeys(authenticate);
    await expect(only.execute(null)).rejects.toBeInstanceOf(UnauthorizedError);
    await expect(only.execute("anything")).rejects.toBeInstanceOf(UnauthorizedError);
    await manage.create(wish, act);
    expect(await only.execute(SECRET)).toEqual({ merchant: "acme", operator: true, keyId: "id-1" });
    await expect(only.execute("anything")).rejects.toMatchObject({
      name: "UnauthorizedError",
      code: "unauthorized",
      message: "A valid API key is required: Authorization: Bearer <key>.",
    });
  });
});

describe("sessions of the console", () => {
  test("where there is no key nobody has to sign in, and everybody is the operator", async () => {
    expect(await signing.signIn("")).toBeNull();
    expect(await signing.callerOf(null)).toEqual({ merchant: "default", operator: true, keyId: null });
  });

  test("a key is exchanged for a session of eight hours, of which the store has a hash alone", async () => {
    await manage.create(wish, act);
    const begun = jest.spyOn(sessions, "begin");
    expect(await signing.signIn(SECRET)).toBe("session-1");
    const createdAt = clock.now();
    expect(begun.mock.calls).toEqual([
      [
        {
          idHash: createHash("sha256").update("session-1").digest("hex"),
          keyId: "id-1",
          createdAt,
          expiresAt: new Date(createdAt.getTime() + 8 * HOUR),
        },
      ],
    ]);
    expect(CONSOLE_SESSION_MS).toBe(8 * HOUR);
    expect(await signing.callerOf("session-1")).toEqual({ merchant: "acme", operator: true, keyId: "id-1" });
    clock.advance(8 * HOUR - 1);
    expect(await signing.callerOf("session-1")).toMatchObject({ keyId: "id-1" });
    clock.advance(1);
    await expect(signing.callerOf("session-1")).rejects.toBeInstanceOf(UnauthorizedError);
  });

  test("a session ends with its key, and when it is left; what is no session is nobody", async () => {
    await manage.create({ ...wish, operator: false }, act);
    const [one, other] = [await signing.signIn(SECRET), await signing.signIn(SECRET)];
    await signing.signOut(one!);
    await expect(signing.callerOf(one)).rejects.toBeInstanceOf(UnauthorizedError);
    expect(await signing.callerOf(other)).toEqual({ merchant: "acme", operator: false, keyId: "id-1" });
    await manage.revoke("id-1", act);
    await expect(signing.callerOf(other)).rejects.toBeInstanceOf(UnauthorizedError);
    await expect(signing.callerOf("guess")).rejects.toBeInstanceOf(UnauthorizedError);
    await expect(signing.callerOf(null)).rejects.toBeInstanceOf(UnauthorizedError);
    await expect(signing.signIn("guess")).rejects.toBeInstanceOf(UnauthorizedError);
  });
});
