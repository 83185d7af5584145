import { Client } from "pg";
import type { MovementRequest } from "../../../../src/application/ports/payment-gateway";
import { money, parseCurrency } from "../../../../src/domain/money";
import { PostgresGatewayLedger } from "../../../../src/infrastructure/gateways/simulated/ledgers/postgres-gateway-ledger";
import { SimulatedGateway } from "../../../../src/infrastructure/gateways/simulated/simulated-gateway";
import { relayTo } from "../../../support/servers/postgres-relay";
import { describeWithPostgres } from "../../../support/servers/servers";

jest.setTimeout(30_000);

const PAYMENTS = ["p1", "p2", "p3"];

const movement = (paymentId: string, key: string, reference: string): MovementRequest => ({
  gatewayKey: `${key}.1`,
  operationId: key,
  paymentId,
  amount: money(5_000n, parseCurrency("EUR")),
  authorizationReference: reference,
  timeoutMs: 6_000,
});

// The inner block's connections are closed before the outer one drops the database.
describeWithPostgres("in a database of its own", (postgres) => {
  describe("works of the simulated gateway that come in one round of the event loop", () => {
    const closing: (() => Promise<unknown>)[] = [];
    afterEach(async () => {
      for (const close of closing.splice(0).reverse()) await close();
    });

    async function gatewayAt(url: string): Promise<SimulatedGateway> {
      const ledger = await PostgresGatewayLedger.open(url);
      closing.push(() => ledger.close());
      return new SimulatedGateway({ ledger, clock: { now: () => new Date() }, sleep: async () => undefined });
    }

    async function authorizeAll(gateway: SimulatedGateway): Promise<readonly string[]> {
      const answers = await Promise.all(
        PAYMENTS.map((id) => gateway.authorize({ ...movement(id, `a-${id}`, ""), paymentMethod: "tok_ok" })),
      );
      return answers.map((answer) => (answer.outcome === "succeeded" ? answer.reference : ""));
    }

    const captureAll = (gateway: SimulatedGateway, references: readonly string[]) =>
      Promise.all(PAYMENTS.map((id, i) => gateway.capture(movement(id, `c-${id}`, references[i]!))));

    async function query(text: string): Promise<void> {
      const client = new Client({ connectionString: postgres.url });
      await client.connect();
      await client.query(text);
      await client.end();
    }

    it("works that come together are fetched in one round trip and written in another, each once", async () => {
      const relay = await relayTo(postgres.url);
      closing.push(() => relay.close());
      const gateway = await gatewayAt(relay.url);
      const references = await authorizeAll(gateway);
      const before = relay.roundTrips;
      const answers = await captureAll(gateway, references);
      expect(relay.roundTrips - before).toBe(2);
      expect(answers.map(({ outcome }) => outcome)).toEqual(["succeeded", "succeeded", "succeeded"]);
      for (const [i, id] of PAYMENTS.entries()) {
        expect((await gateway.moves(id)).map(({ kind }) => kind)).toEqual(["authorize", "capture"]);
        expect(await gateway.authorization(id, references[i]!)).toMatchObject({ captured: 5_000n });
      }
    });

    it("a work that is refused is refused alone: its neighbours have moved their money, once", async () => {
      const gateway = await gatewayAt(postgres.url);
      const references = await authorizeAll(gateway);
      await query(
        `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
         CREATE TRIGGER refuse BEFORE INSERT ON holdfast_gateway.gateway_moves FOR EACH ROW
           WHEN (NEW.payment_id = 'p2') EXECUTE FUNCTION refuse()`,
      );
      const answers = await captureAll(gateway, references);
      expect(answers.map(({ outcome }) => outcome)).toEqual(["succeeded", "unknown", "succeeded"]);
      const moved = await Promise.all(PAYMENTS.map((id) => gateway.moves(id)));
      expect(moved.map((moves) => moves.length)).toEqual([2, 1, 2]);
    });

    it("two works of one payment in one round are both done, one after the other", async () => {
      const gateway = await gatewayAt(postgres.url);
      const [reference] = await authorizeAll(gateway);
      await Promise.all(["k1", "k2"].map((key) => gateway.capture(movement("p1", key, reference!))));
      expect(await gateway.moves("p1")).toHaveLength(3);
      expect(await gateway.authorization("p1", reference!)).toMatchObject({ captured: 10_000n });
    });

    it("works whose answer is lost are all unknown, and the money of their keys moves once when they are sent again", async () => {
      const relay = await relayTo(postgres.url);
      closing.push(() => relay.close());
      const gateway = await gatewayAt(relay.url);
      const references = await authorizeAll(gateway);
      // The connection is used by the look first.
      const ledgerOf = gateway as unknown as { ledger: PostgresGatewayLedger };
      const { transaction } = ledgerOf.ledger;
      ledgerOf.ledger.transaction = (paymentId, work, looksAt) =>
        transaction.call(
          ledgerOf.ledger,
          paymentId,
          async (tables) => {
            relay.lose("answer lost");
            return work(tables);
          },
          looksAt,
        ) as never;
      const answers = await captureAll(gateway, references);
      relay.lose();
      expect(answers.map(({ outcome }) => outcome)).toEqual(["unknown", "unknown", "unknown"]);
      const again = await captureAll(await gatewayAt(postgres.url), references);
      expect(again.map(({ outcome }) => outcome)).toEqual(["succeeded", "succeeded", "succeeded"]);
      for (const id of PAYMENTS)
        expect((await (await gatewayAt(postgres.url)).moves(id)).map(({ kind }) => kind)).toEqual([
          "authorize",
          "capture",
        ]);
    });
  });
});
