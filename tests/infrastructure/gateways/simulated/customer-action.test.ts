import { join } from "node:path";
import { parsePaymentId } from "../../../../src/domain/identifiers";
import { money, parseCurrency } from "../../../../src/domain/money";
import type { GatewayLedger } from "../../../../src/infrastructure/gateways/simulated/ledgers/gateway-ledger";
import { InMemoryGatewayLedger } from "../../../../src/infrastructure/gateways/simulated/ledgers/in-memory-gateway-ledger";
import { PostgresGatewayLedger } from "../../../../src/infrastructure/gateways/simulated/ledgers/postgres-gateway-ledger";
import { SqliteGatewayLedger } from "../../../../src/infrastructure/gateways/simulated/ledgers/sqlite-gateway-ledger";
import { SimulatedGateway } from "../../../../src/infrastructure/gateways/simulated/simulated-gateway";
import { describeWithPostgres } from "../../../support/servers/servers";
import { secretIn } from "../../../support/worlds/payments-world";
import { temporaryDirectory } from "../../../support/worlds/temporary-directory";

const paymentId = parsePaymentId("019aa2b4-7c00-7d3a-9c55-3f1f6b8a2e01");
const returnUrl = "https://shop.example/back";
const request = {
  gatewayKey: "a.1",
  operationId: "a",
  paymentId,
  amount: money(5_000n, parseCurrency("EUR")),
  paymentMethod: "tok_requires_action",
  returnUrl,
  timeoutMs: 5_000,
};
const find = { ...request, kind: "authorize", authorizationReference: null } as const;
const letGo = { ...request, gatewayKey: "v.1", operationId: "v", authorizationReference: "auth_a.1" };

interface Ledgers {
  readonly first: GatewayLedger;
  /** As another process has it, or this one after a restart. */
  readonly again: () => Promise<GatewayLedger>;
}

function gatewayOver(ledger: GatewayLedger): SimulatedGateway {
  return new SimulatedGateway({ ledger, clock: { now: () => new Date("2026-11-18T09:00:00.000Z") } });
}

function customersOver(name: string, open: () => Promise<Ledgers>): void {
  describe(`a customer of the simulated gateway, in ${name}`, () => {
    let ledgers: Ledgers;
    let gateway: SimulatedGateway;
    let secret: string;
    beforeEach(async () => {
      ledgers = await open();
      gateway = gatewayOver(ledgers.first);
      const answer = await gateway.authorize(request);
      expect(answer).toMatchObject({ outcome: "requires_action", reference: "auth_a.1" });
      secret = answer.outcome === "requires_action" ? secretIn(answer.url) : "";
    });
    const held = async (of = gateway) => (await of.authorization(paymentId, "auth_a.1"))?.reserved;

    it(`a customer is waited for at the same address after a restart of ${name}, and can confirm there`, async () => {
      const first = await gateway.find(find);
      const restarted = gatewayOver(await ledgers.again());
      expect(await restarted.find(find)).toEqual(first);
      expect(await restarted.authorize(request)).toEqual(first);
      expect(await restarted.customerPages.show(paymentId, secret)).toEqual({ state: "waiting", returnUrl });
      await restarted.customerPages.decide(paymentId, secret, "confirm");
      expect(await restarted.find(find)).toEqual({ outcome: "succeeded", reference: "auth_a.1" });
      expect(await held(restarted)).toBe(5_000n);
      expect(await restarted.moves(paymentId)).toHaveLength(1);
    });

    it(`what a customer has decided stays decided in ${name}`, async () => {
      await gateway.customerPages.decide(paymentId, secret, "decline");
      const restarted = gatewayOver(await ledgers.again());
      expect(await restarted.customerPages.decide(paymentId, secret, "confirm")).toMatchObject({
        state: "declined",
      });
      expect(await restarted.find(find)).toEqual({ outcome: "declined", reason: "declined_by_customer" });
      expect(await held(restarted)).toBe(0n);
    });

    it(`a void ends the customer's wait in ${name}, and a confirmation that comes later reserves nothing`, async () => {
      expect(await gateway.void(letGo)).toMatchObject({ outcome: "succeeded" });
      expect(await gateway.customerPages.decide(paymentId, secret, "confirm")).toMatchObject({
        state: "ended",
      });
      expect(await gateway.find(find)).toMatchObject({ outcome: "authorization_gone" });
      expect(await held()).toBe(0n);
    });

    it(`the page says in ${name} that a payment is over which was let go after the customer had confirmed`, async () => {
      const { customerPages } = gateway;
      const show = async () => (await customerPages.show(paymentId, secret))?.state;
      await customerPages.decide(paymentId, secret, "confirm");
      expect(await show()).toBe("confirmed");
      expect(await gateway.void(letGo)).toMatchObject({ outcome: "succeeded" });
      expect(await show()).toBe("ended");
      expect(await customerPages.decide(paymentId, secret, "confirm")).toMatchObject({ state: "ended" });
    });

    it(`the page still says in ${name} that the customer has confirmed when the money was taken`, async () => {
      await gateway.customerPages.decide(paymentId, secret, "confirm");
      const capture = { ...letGo, gatewayKey: "c.1", operationId: "c" };
      expect(await gateway.capture(capture)).toMatchObject({ outcome: "succeeded" });
      expect(await gateway.customerPages.show(paymentId, secret)).toMatchObject({ state: "confirmed" });
    });

    it(`a void and a confirmation at once leave nothing reserved in ${name}`, async () => {
      await Promise.all([
        gateway.void(letGo),
        gateway.customerPages.decide(paymentId, secret, "confirm"),
        gateway.customerPages.decide(paymentId, secret, "confirm"),
      ]);
      expect(await held()).toBe(0n);
      expect(await gateway.find({ ...letGo, kind: "void" })).toMatchObject({ outcome: "succeeded" });
    });

    it(`a wrong secret, and a key with another return URL, are no customer's in ${name}`, async () => {
      expect(await gateway.customerPages.show(paymentId, `${secret}x`)).toBeNull();
      expect(await gateway.customerPages.decide(paymentId, "", "confirm")).toBeNull();
      expect(await gateway.authorize({ ...request, returnUrl: "https://evil.example/" })).toMatchObject({
        outcome: "unknown",
        reason: expect.stringContaining("return URL"),
      });
    });

    it(`nothing can be captured in ${name} before the customer has confirmed`, async () => {
      expect(await gateway.capture(letGo)).toEqual({ outcome: "declined", reason: "requires_action" });
      expect(await gateway.picture({ ...letGo, authorizationReference: "auth_a.1" })).toMatchObject({
        outcome: "seen",
        picture: { authorization: "undecided", captured: null },
      });
    });
  });
}

customersOver("memory, with its snapshot", async () => {
  const first = new InMemoryGatewayLedger();
  return {
    first,
    again: async () => InMemoryGatewayLedger.restore(JSON.parse(JSON.stringify(await first.snapshot()))),
  };
});

describe("in a file", () => {
  const directory = temporaryDirectory();
  let files = 0;
  const opened: (() => void | Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of opened.splice(0).reverse()) await close();
  });
  customersOver("SQLite", async () => {
    files += 1;
    const openFile = async () => {
      const ledger = await SqliteGatewayLedger.open(join(directory.path, `${files}.gateway.db`));
      opened.push(() => ledger.close());
      return ledger;
    };
    return { first: await openFile(), again: openFile };
  });
});

describeWithPostgres("in a database of its own", (postgres) => {
  describe("with connections of its own", () => {
    const opened: PostgresGatewayLedger[] = [];
    afterEach(async () => {
      await Promise.all(opened.splice(0).map((ledger) => ledger.close()));
    });
    customersOver("PostgreSQL", async () => {
      const openLedger = async () => {
        const ledger = await PostgresGatewayLedger.open(postgres.url);
        opened.push(ledger);
        return ledger;
      };
      return { first: await openLedger(), again: openLedger };
    });
  });
});
