import { Client } from "pg";
import type { MovementRequest } from "../../../../src/application/ports/payment-gateway";
import { money, parseCurrency } from "../../../../src/domain/money";
import { PostgresGatewayLedger } from "../../../../src/infrastructure/gateways/simulated/ledgers/postgres-gateway-ledger";
import { PostgresGatewayStatements } from "../../../../src/infrastructure/gateways/simulated/ledgers/postgres-gateway-statements";
import { SimulatedGateway } from "../../../../src/infrastructure/gateways/simulated/simulated-gateway";
import { relayTo } from "../../../support/servers/postgres-relay";
import { describeWithPostgres } from "../../../support/servers/servers";

const movement = (key: string, authorizationReference: string): MovementRequest => ({
  gatewayKey: `${key}.1`,
  operationId: key,
  paymentId: "p",
  amount: money(5_000n, parseCurrency("EUR")),
  authorizationReference,
  timeoutMs: 6_000,
});

describeWithPostgres("in a database of its own", (postgres) => {
  // Within its own block, so that connections are closed before the database is dropped.
  describe("the memory of the simulated gateway in PostgreSQL", () => {
    let now = 0;
    const ledgers: PostgresGatewayLedger[] = [];
    const gatewayOfAnInstance = async (url = postgres.url) => {
      const ledger = await PostgresGatewayLedger.open(url);
      ledgers.push(ledger);
      return new SimulatedGateway({
        ledger,
        clock: { now: () => new Date(now) },
        sleep: async () => undefined,
      });
    };
    const query = async (sql: string) => {
      const client = new Client({ connectionString: postgres.url });
      await client.connect();
      try {
        const answers: unknown = await client.query(sql);
        // Of several statements, the last one's.
        const last = (Array.isArray(answers) ? answers.at(-1) : answers) as { rows: unknown[] };
        return last.rows;
      } finally {
        await client.end();
      }
    };
    beforeEach(() => {
      now = Date.parse("2026-11-18T09:00:00.000Z");
    });
    afterEach(async () => {
      await Promise.all(ledgers.splice(0).map((ledger) => ledger.close()));
    });

    it("the memory of the simulated gateway in PostgreSQL knows of a refund that failed after it succeeded, whichever instance made it", async () => {
      const [one, other] = await Promise.all([gatewayOfAnInstance(), gatewayOfAnInstance()]);
      const paymentMethod = "tok_refund_fails_later_1000";
      const authorized = await one.authorize({ ...movement("fa", ""), paymentId: "f", paymentMethod });
      const reference = authorized.outcome === "succeeded" ? authorized.reference : "";
      await one.capture({ ...movement("fc", reference), paymentId: "f" });
      const refund = { ...movement("fr", reference), paymentId: "f" };
      expect(await one.refund(refund)).toMatchObject({ outcome: "succeeded" });
      expect(await other.find({ ...refund, kind: "refund" })).toMatchObject({ outcome: "succeeded" });
      expect(await other.authorization("f", reference)).toMatchObject({ refunded: 5_000n });
      now += 1_000;
      expect(await other.find({ ...refund, kind: "refund" })).toMatchObject({ outcome: "declined" });
      expect(await one.authorization("f", reference)).toMatchObject({ captured: 5_000n, refunded: 0n });
      expect((await one.moves("f")).map(({ kind }) => kind)).toEqual(["authorize", "capture", "refund"]);
    });

    it("the memory of the simulated gateway in PostgreSQL is made once by instances that start together, in a schema of its own, and shared by them", async () => {
      const instances = await Promise.all([1, 2, 3, 4].map(() => gatewayOfAnInstance()));
      const [first] = instances;
      const authorized = await first!.authorize({ ...movement("a", ""), paymentMethod: "tok_ok" });
      const reference = authorized.outcome === "succeeded" ? authorized.reference : "";
      const answers = await Promise.all(
        instances.flatMap((gateway) => [1, 2, 3].map(() => gateway.capture(movement("c", reference)))),
      );
      expect(new Set(answers.map(({ outcome }) => outcome))).toEqual(new Set(["succeeded"]));
      expect((await first!.totals()).capture).toEqual({ count: 1, minorUnits: 5_000n });
      expect(
        await query("SELECT DISTINCT schemaname FROM pg_tables WHERE tablename LIKE 'gateway_%'"),
      ).toEqual([{ schemaname: "holdfast_gateway" }]);
    });

    it("the memory of the simulated gateway in PostgreSQL loses no work of instances that race for one payment", async () => {
      const instances = await Promise.all([1, 2, 3, 4].map(() => gatewayOfAnInstance()));
      const authorized = await instances[0]!.authorize({ ...movement("a", ""), paymentMethod: "tok_ok" });
      const reference = authorized.outcome === "succeeded" ? authorized.reference : "";
      // A mistake of ours, which the naive gateway is there to show: each key captures the money again.
      await Promise.all(
        instances.flatMap((gateway, i) =>
          [1, 2, 3, 4, 5].map((n) => gateway.capture(movement(`c${i}${n}`, reference))),
        ),
      );
      expect((await instances[0]!.moves("p")).filter(({ kind }) => kind === "capture")).toHaveLength(20);
      expect(await instances[0]!.authorization("p", reference)).toMatchObject({ captured: 100_000n });
    });

    it("the memory of the simulated gateway in PostgreSQL takes two round trips for a movement, and one for a question", async () => {
      const relay = await relayTo(postgres.url);
      try {
        const gateway = await gatewayOfAnInstance(relay.url);
        const taken = async (work: () => Promise<unknown>): Promise<number> => {
          const before = relay.roundTrips;
          await work();
          return relay.roundTrips - before;
        };
        const authorized = await gateway.authorize({ ...movement("a", ""), paymentMethod: "tok_ok" });
        const reference = authorized.outcome === "succeeded" ? authorized.reference : "";
        expect(await taken(() => gateway.capture(movement("c", reference)))).toBe(2);
        expect(await taken(() => gateway.capture(movement("c", reference)))).toBe(1);
        expect(await taken(() => gateway.find({ ...movement("c", reference), kind: "capture" }))).toBe(1);
      } finally {
        await ledgers.pop()?.close();
        await relay.close();
      }
    });

    it("the memory of the simulated gateway in PostgreSQL has written a whole work, or none of it, when the answer is lost", async () => {
      const relay = await relayTo(postgres.url);
      try {
        const gateway = await gatewayOfAnInstance(relay.url);
        await gateway.authorize({ ...movement("a", ""), paymentMethod: "tok_ok" });
        const work = ledgers[0]!.transaction("p", async (tables) => {
          await tables.putEntry({ ...(await tables.entry("a.1"))!, gatewayKey: "b.1", operationId: "b" });
          await tables.appendMove((await tables.moves("p"))[0]!);
          relay.lose("answer lost");
        });
        await expect(work).rejects.toThrow("PostgreSQL does not answer");
        const known = await ledgers[0]!.transaction("p", (tables) => tables.knowsOperation("b"));
        expect(await gateway.moves("p")).toHaveLength(known ? 2 : 1);
      } finally {
        await ledgers.pop()?.close();
        await relay.close();
      }
    });

    it("the memory of the simulated gateway in PostgreSQL asks for a payment by an index", async () => {
      await gatewayOfAnInstance();
      const { fetch } = new PostgresGatewayStatements("holdfast_gateway");
      // On empty tables. With this, one is read whole only where no index answers.
      const plan = await query(`
        SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan;
        PREPARE asked (text[], text[], text[], text[]) AS ${fetch}; EXPLAIN EXECUTE asked ('{}', '{}', '{}', '{}')`);
      expect(JSON.stringify(plan)).toContain("gateway_entries_operation");
      expect(JSON.stringify(plan)).not.toContain("Seq Scan");
    });

    it("the memory of the simulated gateway in PostgreSQL takes over the tables of the first version", async () => {
      const gateway = await gatewayOfAnInstance();
      await gateway.authorize({ ...movement("a", ""), paymentMethod: "tok_ok" });
      await query("DROP TABLE holdfast_gateway.gateway_versions");
      await query("DROP INDEX holdfast_gateway.gateway_entries_payment");
      await query("ALTER TABLE holdfast_gateway.gateway_entries DROP COLUMN customer_page");
      await query("UPDATE holdfast_gateway.gateway_schema SET version = 1");
      const other = await gatewayOfAnInstance();
      expect(await other.find({ ...movement("a", ""), kind: "authorize" })).toMatchObject({
        outcome: "succeeded",
      });
    });

    it("the memory of the simulated gateway in PostgreSQL survives the end of an instance: what was on its way lands at another", async () => {
      const gateway = await gatewayOfAnInstance();
      const authorized = await gateway.authorize({ ...movement("a", ""), paymentMethod: "tok_late_1000" });
      const reference = authorized.outcome === "succeeded" ? authorized.reference : "";
      await gateway.capture(movement("c", reference));
      await ledgers.pop()?.close();
      const other = await gatewayOfAnInstance();
      expect((await other.totals()).capture.count).toBe(0);
      now += 1_000;
      expect((await other.totals()).capture.count).toBe(1);
    });

    it("the memory of the simulated gateway in PostgreSQL keeps nothing of a work that failed", async () => {
      const gateway = await gatewayOfAnInstance();
      await gateway.authorize({ ...movement("a", ""), paymentMethod: "tok_ok" });
      const work = ledgers[0]!.transaction("p", async (tables) => {
        await tables.appendMove((await tables.moves("p"))[0]!);
        await tables.putEntry({ ...(await tables.entry("a.1"))!, state: { is: "lost" } });
        throw new Error("killed");
      });
      await expect(work).rejects.toThrow("killed");
      expect(await gateway.moves("p")).toHaveLength(1);
      const found = await gateway.find({ ...movement("a", ""), kind: "authorize" });
      expect(found).toMatchObject({ outcome: "succeeded" });
    });

    it("the memory of the simulated gateway in PostgreSQL refuses, in words, a schema that a newer Holdfast wrote", async () => {
      await gatewayOfAnInstance();
      await query("INSERT INTO holdfast_gateway.gateway_schema VALUES (99)");
      await expect(PostgresGatewayLedger.open(postgres.url)).rejects.toThrow(/newer Holdfast \(schema 99/);
    });

    it("the memory of the simulated gateway in PostgreSQL that has lost its connections is an unknown outcome, and works again afterwards", async () => {
      const gateway = await gatewayOfAnInstance();
      const ask = () => gateway.find({ ...movement("c", "none"), kind: "capture" });
      expect(await ask()).toEqual({ outcome: "absent" });
      await query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'holdfast simulated gateway'",
      );
      // The first may still meet the dead connection; it must not reject either way.
      expect(["absent", "unknown"]).toContain((await ask()).outcome);
      expect(await ask()).toEqual({ outcome: "absent" });
    });
  });
});
