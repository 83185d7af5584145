import { Client } from "pg";
import type { MovementRequest } from "../../../../src/application/ports/payment-gateway";
import { money, parseCurrency } from "../../../../src/domain/money";
import { PostgresGatewayLedger } from "../../../../src/infrastructure/gateways/simulated/postgres-gateway-ledger";
import { SimulatedGateway } from "../../../../src/infrastructure/gateways/simulated/simulated-gateway";
import { describeWithPostgres } from "../../../support/servers";

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
    const gatewayOfAnInstance = async () => {
      const ledger = await PostgresGatewayLedger.open(postgres.url);
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
        return (await client.query<Record<string, unknown>>(sql)).rows;
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

    it("is made once by instances that start together, in a schema of its own, and shared by them", async () => {
      const instances = await Promise.all([1, 2, 3, 4].map(gatewayOfAnInstance));
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

    it("survives the end of an instance: what was on its way lands at another", async () => {
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

    it("keeps nothing of a work that failed", async () => {
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

    it("refuses, in words, a schema that a newer Holdfast wrote", async () => {
      await gatewayOfAnInstance();
      await query("INSERT INTO holdfast_gateway.gateway_schema VALUES (99)");
      await expect(PostgresGatewayLedger.open(postgres.url)).rejects.toThrow(/newer Holdfast \(schema 99/);
    });

    it("that has lost its connections is an unknown outcome, and works again afterwards", async () => {
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
