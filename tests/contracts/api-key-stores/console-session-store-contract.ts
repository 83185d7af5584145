import { randomUUID } from "node:crypto";
import type { ApiKeyStore } from "../../../src/application/ports/api-key-store";
import type { ConsoleSessionStore } from "../../../src/application/ports/console/console-session-store";
import { parseMerchantId } from "../../../src/domain/identifiers";
import { after, NOON } from "../../support/worlds/payments";

export interface ConsoleSessionStoreHarness {
  readonly sessions: ConsoleSessionStore;
  readonly keys: ApiKeyStore;
  close(): Promise<void>;
}

/** What every store of the console's sessions promises, in the words of the port. */
export function describeConsoleSessionStore(
  name: string,
  make: () => Promise<ConsoleSessionStoreHarness>,
): void {
  describe(`${name} keeps sessions of the console`, () => {
    let harness: ConsoleSessionStoreHarness;
    beforeEach(async () => (harness = await make()));
    afterEach(() => harness.close());

    async function begun(idHash: string, untilMs = 1_000): Promise<string> {
      const id = randomUUID();
      const key = { merchant: parseMerchantId("acme"), operator: true, name: null, prefix: "hf_1" };
      await harness.keys.create({ ...key, id, createdAt: NOON, secretHash: `${idHash} of the key` });
      await harness.sessions.begin({ idHash, keyId: id, createdAt: NOON, expiresAt: after(untilMs) });
      return id;
    }

    it("a session of the console is found by the hash of its id, and by nothing else", async () => {
      const keyId = await begun("a");
      await begun("b");
      expect(await harness.sessions.keyOf("a", NOON)).toMatchObject({ id: keyId, operator: true });
      expect(await harness.sessions.keyOf("c", NOON)).toBeNull();
      expect(await harness.sessions.keyOf("", NOON)).toBeNull();
    });

    it("a session of the console ends at its time, and not before", async () => {
      await begun("a");
      expect(await harness.sessions.keyOf("a", after(999))).not.toBeNull();
      expect(await harness.sessions.keyOf("a", after(1_000))).toBeNull();
    });

    it("a session of the console ends when its key is revoked", async () => {
      const keyId = await begun("a");
      await begun("b");
      await harness.keys.revoke(keyId, after(1));
      expect(await harness.sessions.keyOf("a", after(2))).toBeNull();
      expect(await harness.sessions.keyOf("b", after(2))).not.toBeNull();
    });

    it("a session of the console ends when it is signed out of, and others go on", async () => {
      await begun("a");
      await begun("b");
      await harness.sessions.end("a");
      await harness.sessions.end("a");
      expect(await harness.sessions.keyOf("a", NOON)).toBeNull();
      expect(await harness.sessions.keyOf("b", NOON)).not.toBeNull();
    });

    it("sessions of the console whose time was over are dropped when another one begins", async () => {
      const keyId = await begun("a", 1_000);
      const [createdAt, expiresAt] = [after(1_000), after(9_000)];
      await harness.sessions.begin({ idHash: "b", keyId, createdAt, expiresAt });
      // Asked as of a time at which it was still valid: it is not there any more.
      expect(await harness.sessions.keyOf("a", NOON)).toBeNull();
      expect(await harness.sessions.keyOf("b", NOON)).toMatchObject({ id: keyId });
    });
  });
}
