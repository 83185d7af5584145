import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { FindRequest, MovementRequest } from "../../../../src/application/ports/payment-gateway";
import { money, parseCurrency } from "../../../../src/domain/money";
import type { GatewayLedger } from "../../../../src/infrastructure/gateways/simulated/ledgers/gateway-ledger";
import { InMemoryGatewayLedger } from "../../../../src/infrastructure/gateways/simulated/ledgers/in-memory-gateway-ledger";
import { SimulatedGateway } from "../../../../src/infrastructure/gateways/simulated/simulated-gateway";
import { SqliteGatewayLedger } from "../../../../src/infrastructure/gateways/simulated/ledgers/sqlite-gateway-ledger";
import { SqliteDatabase } from "../../../../src/infrastructure/persistence/sqlite/sqlite-database";
import { Gate, settled } from "../../../support/fakes/gate";

const amount = money(5_000n, parseCurrency("EUR"));
const start = Date.parse("2026-11-18T09:00:00.000Z");

class Hands {
  now = start;
  readonly waits: number[] = [];
  readonly clock = { now: () => new Date(this.now) };
  readonly sleep = async (ms: number) => void this.waits.push(ms);
}

const movement = (key: string, authorizationReference: string): MovementRequest => ({
  gatewayKey: `${key}.1`,
  operationId: key,
  paymentId: "p",
  amount,
  authorizationReference,
  timeoutMs: 6_000,
});
const search = (key: string, authorizationReference: string): FindRequest => ({
  ...movement(key, authorizationReference),
  kind: "capture",
});

const directory = mkdtempSync(join(tmpdir(), "holdfast-gateway-"));
let databases = 0;
const databasePath = () => join(directory, `${++databases}.gateway.db`);
afterAll(() => {
  rmSync(directory, { recursive: true });
});

async function authorized(gateway: SimulatedGateway, paymentMethod: string): Promise<string> {
  const answer = await gateway.authorize({ ...movement("a", ""), paymentMethod });
  if (answer.outcome !== "succeeded") throw new Error(answer.outcome);
  return answer.reference;
}

describe("the simulated gateway shows a mistake of ours", () => {
  const hands = new Hands();
  const gateway = new SimulatedGateway({ ledger: new InMemoryGatewayLedger(), ...hands });

  it("the simulated gateway shows a mistake of ours captures one authorization again under another key, and says so when asked how often money moved", async () => {
    const reference = await authorized(gateway, "tok_ok");
    await gateway.capture(movement("c1", reference));
    await gateway.capture(movement("c2", reference));
    await gateway.capture(movement("c2", reference));
    const moves = await gateway.moves("p");
    expect(moves.map(({ kind, gatewayKey }) => `${kind} ${gatewayKey}`)).toEqual([
      "authorize a.1",
      "capture c1.1",
      "capture c2.1",
    ]);
    expect(moves[1]).toEqual({
      paymentId: "p",
      kind: "capture",
      gatewayKey: "c1.1",
      amount: { amount: 5_000n, currency: "EUR" },
      at: hands.clock.now(),
    });
    expect(await gateway.totals()).toMatchObject({ capture: { count: 2, minorUnits: 10_000n } });
    expect((await gateway.authorization("p", reference))?.captured).toBe(10_000n);
  });
});

describe("payment method tokens of the simulated gateway", () => {
  it("act on the first send of an operation only, whatever key the next send has", async () => {
    const gateway = new SimulatedGateway({ ledger: new InMemoryGatewayLedger(), ...new Hands() });
    const reference = await authorized(gateway, "tok_void_decline");
    const release = movement("v", reference);
    expect(await gateway.void(release)).toEqual({ outcome: "declined", reason: "card_declined" });
    expect(await gateway.void(release)).toEqual({ outcome: "declined", reason: "card_declined" });
    expect(await gateway.void({ ...release, gatewayKey: "v.2" })).toMatchObject({ outcome: "succeeded" });
  });

  it("a silent gateway is silent for its time-out, and never longer than the caller waits", async () => {
    const hands = new Hands();
    const gateway = new SimulatedGateway({ ledger: new InMemoryGatewayLedger(), ...hands, timeoutMs: 70 });
    const reference = await authorized(gateway, "tok_timeout_captured");
    await gateway.capture(movement("c1", reference));
    await gateway.capture({ ...movement("c2", reference), timeoutMs: 30 });
    expect(hands.waits).toEqual([70, 30]);
  });

  it("a slow gateway has not acted before its time, and answers with what it did", async () => {
    const hands = new Hands();
    const gate = new Gate();
    const gateway = new SimulatedGateway({
      ledger: new InMemoryGatewayLedger(),
      clock: hands.clock,
      sleep: () => gate.passed,
    });
    const reference = await authorized(gateway, "tok_slow_300");
    const answer = gateway.capture(movement("c", reference));
    await settled();
    expect(await gateway.find(search("c", reference))).toEqual({ outcome: "absent" });
    gate.open();
    expect(await answer).toMatchObject({ outcome: "succeeded" });
    expect(await gateway.find(search("c", reference))).toMatchObject({ outcome: "succeeded" });
  });

  it("a gateway slower than its caller's patience acts all the same, when it gets to it", async () => {
    const hands = new Hands();
    const gateway = new SimulatedGateway({ ledger: new InMemoryGatewayLedger(), ...hands });
    const reference = await authorized(gateway, "tok_slow_7000");
    expect(await gateway.capture(movement("c", reference))).toMatchObject({ outcome: "unknown" });
    hands.now += 7_000;
    expect(await gateway.find(search("c", reference))).toMatchObject({ outcome: "succeeded" });
  });

  it("what lands late has the time at which it landed, not the time at which somebody asked", async () => {
    const hands = new Hands();
    const gateway = new SimulatedGateway({ ledger: new InMemoryGatewayLedger(), ...hands });
    const reference = await authorized(gateway, "tok_late_1000");
    await gateway.capture(movement("c", reference));
    hands.now += 60_000;
    expect((await gateway.totals()).capture.count).toBe(1);
    expect((await gateway.moves("p"))[1]?.at).toEqual(new Date(start + 1_000));
  });

  it("a late capture of an authorization that was voided meanwhile is refused when it lands", async () => {
    const hands = new Hands();
    const gateway = new SimulatedGateway({ ledger: new InMemoryGatewayLedger(), ...hands });
    const reference = await authorized(gateway, "tok_late_1000");
    await gateway.capture(movement("c", reference));
    await gateway.void(movement("v", reference));
    hands.now += 1_000;
    expect(await gateway.find(search("c", reference))).toEqual({
      outcome: "authorization_gone",
      reason: "voided",
    });
    expect((await gateway.totals()).capture.count).toBe(0);
  });
});

describe("the memory of the simulated gateway", () => {
  it("the memory of the simulated gateway in SQLite survives the end of the process: what was on its way lands all the same", async () => {
    const path = databasePath();
    const hands = new Hands();
    const before = await SqliteGatewayLedger.open(path);
    const gateway = new SimulatedGateway({ ledger: before, ...hands });
    const reference = await authorized(gateway, "tok_late_1000");
    await gateway.capture(movement("c", reference));
    before.close();
    const after = await SqliteGatewayLedger.open(path);
    const restarted = new SimulatedGateway({ ledger: after, ...hands });
    expect(await restarted.find(search("c", reference))).toEqual({ outcome: "absent" });
    hands.now += 1_000;
    expect(await restarted.find(search("c", reference))).toMatchObject({ outcome: "succeeded" });
    expect((await restarted.totals()).capture).toEqual({ count: 1, minorUnits: 5_000n });
    after.close();
  });

  it("the memory of the simulated gateway in SQLite refuses, in words, a file that a newer Holdfast wrote", async () => {
    const path = databasePath();
    const newer = await SqliteDatabase.open(path);
    newer.execute("PRAGMA user_version = 99");
    newer.close();
    await expect(SqliteGatewayLedger.open(path)).rejects.toThrow(/newer Holdfast \(schema 99/);
  });

  it("travels as JSON, with what is still on its way", async () => {
    const hands = new Hands();
    const ledger = new InMemoryGatewayLedger();
    const gateway = new SimulatedGateway({ ledger, ...hands });
    const reference = await authorized(gateway, "tok_late_1000");
    await gateway.capture(movement("c", reference));
    const snapshot: unknown = JSON.parse(JSON.stringify(await ledger.snapshot()));
    const restored = InMemoryGatewayLedger.restore(snapshot);
    expect(await restored.snapshot()).toEqual(snapshot);
    const elsewhere = new SimulatedGateway({ ledger: restored, ...hands });
    expect(await elsewhere.authorize({ ...movement("a", ""), paymentMethod: "tok_late_1000" })).toEqual({
      outcome: "succeeded",
      reference,
    });
    hands.now += 1_000;
    expect((await elsewhere.totals()).capture.count).toBe(1);
    expect(() => InMemoryGatewayLedger.restore({ format: 2 })).toThrow(
      /not a snapshot of the simulated gateway/,
    );
  });

  it("travels with currencies that have been withdrawn since", async () => {
    const ledger = new InMemoryGatewayLedger();
    const gateway = new SimulatedGateway({ ledger, ...new Hands() });
    await authorized(gateway, "tok_ok");
    const text = JSON.stringify(await ledger.snapshot()).replaceAll('"EUR"', '"DEM"');
    const restored = InMemoryGatewayLedger.restore(JSON.parse(text));
    expect(JSON.stringify(await restored.snapshot())).toBe(text);
    const elsewhere = new SimulatedGateway({ ledger: restored, ...new Hands() });
    const [move] = await elsewhere.moves("p");
    expect(move?.amount).toEqual({ amount: 5_000n, currency: "DEM" });
  });

  const ledgers: [string, () => Promise<{ ledger: GatewayLedger; close(): void }>][] = [
    ["memory", async () => ({ ledger: new InMemoryGatewayLedger(), close: () => undefined })],
    [
      "SQLite",
      async () => {
        const ledger = await SqliteGatewayLedger.open(databasePath());
        return { ledger, close: () => ledger.close() };
      },
    ],
  ];
  it.each(ledgers)("in %s knows of a refund that failed after it succeeded", async (_name, open) => {
    const { ledger, close } = await open();
    const hands = new Hands();
    const gateway = new SimulatedGateway({ ledger, ...hands });
    const reference = await authorized(gateway, "tok_refund_fails_later_1000");
    await gateway.capture(movement("c", reference));
    const refund = movement("r", reference);
    const succeeded = { outcome: "succeeded", reference: "refund_r.1" };
    expect(await gateway.refund(refund)).toEqual(succeeded);
    expect(await gateway.refund(refund)).toEqual(succeeded);
    expect(await gateway.authorization("p", reference)).toMatchObject({ refunded: 5_000n });
    hands.now += 1_000;
    const failed = { outcome: "declined", reason: "refund_failed" };
    expect(await gateway.find({ ...refund, kind: "refund" })).toEqual(failed);
    expect(await gateway.refund(refund)).toEqual(failed);
    expect(await gateway.authorization("p", reference)).toMatchObject({ captured: 5_000n, refunded: 0n });
    expect((await gateway.moves("p")).map(({ kind }) => kind)).toEqual(["authorize", "capture", "refund"]);
    expect((await gateway.totals()).refund.count).toBe(1);
    close();
  });

  it("travels with a refund that is going to fail", async () => {
    const hands = new Hands();
    const ledger = new InMemoryGatewayLedger();
    const gateway = new SimulatedGateway({ ledger, ...hands });
    const reference = await authorized(gateway, "tok_refund_fails_later_1000");
    await gateway.capture(movement("c", reference));
    await gateway.refund(movement("r", reference));
    const snapshot: unknown = JSON.parse(JSON.stringify(await ledger.snapshot()));
    const elsewhere = new SimulatedGateway({ ledger: InMemoryGatewayLedger.restore(snapshot), ...hands });
    const search = { ...movement("r", reference), kind: "refund" as const };
    expect(await elsewhere.find(search)).toMatchObject({ outcome: "succeeded" });
    hands.now += 1_000;
    expect(await elsewhere.find(search)).toMatchObject({ outcome: "declined" });
  });

  it.each(ledgers)("in %s keeps nothing of a work that failed", async (_name, open) => {
    const { ledger, close } = await open();
    const gateway = new SimulatedGateway({ ledger, ...new Hands() });
    const reference = await authorized(gateway, "tok_ok");
    const work = ledger.transaction("p", async (tables) => {
      const authorization = (await tables.authorization(reference))!;
      await tables.putAuthorization({ ...authorization, captured: 1n });
      await tables.putAuthorization({ ...authorization, reference: "another" });
      await tables.putEntry({ ...(await tables.entry("a.1"))!, state: { is: "lost" } });
      await tables.putEntry({ ...(await tables.entry("a.1"))!, gatewayKey: "b.1", operationId: "b" });
      await tables.appendMove((await tables.moves("p"))[0]!);
      throw new Error("disk full");
    });
    await expect(work).rejects.toThrow("disk full");
    expect(await gateway.authorization("p", reference)).toMatchObject({ captured: 0n });
    expect(await gateway.authorization("p", "another")).toBeNull();
    expect(await gateway.moves("p")).toHaveLength(1);
    expect(await gateway.find({ ...search("a", reference), kind: "authorize" })).toMatchObject({
      outcome: "succeeded",
    });
    expect(await ledger.transaction("p", (tables) => tables.knowsOperation("b"))).toBe(false);
    close();
  });

  it("the memory of the simulated gateway that fails is an unknown outcome, never a rejection", async () => {
    const ledger = await SqliteGatewayLedger.open(databasePath());
    const gateway = new SimulatedGateway({ ledger, ...new Hands() });
    ledger.close();
    expect(await gateway.capture(movement("c", "auth"))).toMatchObject({ outcome: "unknown" });
    expect(await gateway.find(search("c", "auth"))).toMatchObject({ outcome: "unknown" });
  });
});

describe("an authorization made elsewhere", () => {
  it("an authorization made elsewhere is looked up by its reference, has the amount that it names, and can be captured by a payment", async () => {
    const gateway = new SimulatedGateway({ ledger: new InMemoryGatewayLedger(), ...new Hands() });
    const reference = "ext_5000_eur_order-77";
    expect(await gateway.lookupAuthorization({ reference, timeoutMs: 2_000 })).toEqual({
      outcome: "found",
      merchant: null,
      authorization: { reference, amount, expiresAt: null, paymentId: null },
    });
    expect(await gateway.capture(movement("c", reference))).toMatchObject({ outcome: "succeeded" });
    expect(await gateway.lookupAuthorization({ reference, timeoutMs: 2_000 })).toEqual({
      outcome: "not_capturable",
      merchant: null,
      reason: "captured",
    });
  });

  it("an authorization made elsewhere names the merchant it was made for, also when nothing is left of it", async () => {
    const gateway = new SimulatedGateway({ ledger: new InMemoryGatewayLedger(), ...new Hands() });
    const reference = "ext_5000_eur_order-77.for_acme-1.tok_ok";
    const seen = () => gateway.lookupAuthorization({ reference, timeoutMs: 2_000 });
    expect(await seen()).toMatchObject({ outcome: "found", merchant: "acme-1" });
    await gateway.capture(movement("c", reference));
    expect(await seen()).toEqual({ outcome: "not_capturable", merchant: "acme-1", reason: "captured" });
  });

  it("an authorization made elsewhere may carry a token, which acts on its payment", async () => {
    const gateway = new SimulatedGateway({ ledger: new InMemoryGatewayLedger(), ...new Hands() });
    const reference = "ext_5000_eur_order-77.tok_capture_decline";
    await gateway.lookupAuthorization({ reference, timeoutMs: 2_000 });
    expect(await gateway.capture(movement("c", reference))).toMatchObject({ outcome: "declined" });
  });

  it("an authorization made elsewhere that was made for a payment of ours says so", async () => {
    const gateway = new SimulatedGateway({ ledger: new InMemoryGatewayLedger(), ...new Hands() });
    const reference = await authorized(gateway, "tok_ok");
    expect(await gateway.lookupAuthorization({ reference, timeoutMs: 2_000 })).toMatchObject({
      authorization: { paymentId: "p" },
    });
  });

  it.each(["", "pi_1", "ext_0_eur_a", "ext_5000_xyz_a", "ext_5000_eur_", "ext_9999999999999_eur_a"])(
    "an authorization made elsewhere is not found as %p",
    async (reference) => {
      const gateway = new SimulatedGateway({ ledger: new InMemoryGatewayLedger(), ...new Hands() });
      expect(await gateway.lookupAuthorization({ reference, timeoutMs: 2_000 })).toEqual({
        outcome: "not_found",
      });
    },
  );
});
