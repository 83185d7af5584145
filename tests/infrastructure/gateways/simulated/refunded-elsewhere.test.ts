import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { MovementRequest } from "../../../../src/application/ports/payment-gateway";
import { money, parseCurrency } from "../../../../src/domain/money";
import type { GatewayLedger } from "../../../../src/infrastructure/gateways/simulated/ledgers/gateway-ledger";
import { InMemoryGatewayLedger } from "../../../../src/infrastructure/gateways/simulated/ledgers/in-memory-gateway-ledger";
import { PostgresGatewayLedger } from "../../../../src/infrastructure/gateways/simulated/ledgers/postgres-gateway-ledger";
import { SqliteGatewayLedger } from "../../../../src/infrastructure/gateways/simulated/ledgers/sqlite-gateway-ledger";
import { SimulatedGateway } from "../../../../src/infrastructure/gateways/simulated/simulated-gateway";
import { describeWithPostgresSchemas } from "../../../support/servers/servers";

const LATER_MS = 50;

const movement = (key: string, authorizationReference: string, units: bigint): MovementRequest => ({
  gatewayKey: `${key}.1`,
  operationId: key,
  paymentId: "p",
  amount: money(units, parseCurrency("EUR")),
  authorizationReference,
  timeoutMs: 6_000,
});

function tests(
  open: () => Promise<{ readonly ledger: GatewayLedger; readonly close: () => void | Promise<void> }>,
) {
  let close: () => void | Promise<void> = () => undefined;
  afterEach(() => close());

  /** Captured whole; half of it is refunded in the dashboard a little later. */
  async function captured(paymentMethod: string) {
    const opened = await open();
    close = opened.close;
    let now = Date.parse("2026-11-18T09:00:00.000Z");
    const clock = { now: () => new Date(now) };
    const gateway = new SimulatedGateway({ ledger: opened.ledger, clock, sleep: async () => undefined });
    const authorized = await gateway.authorize({ ...movement("a", "", 1_000n), paymentMethod });
    if (authorized.outcome !== "succeeded") throw new Error(authorized.outcome);
    const { reference } = authorized;
    await gateway.capture(movement("c", reference, 1_000n));
    return {
      refund: (key: string, units: bigint) => gateway.refund(movement(key, reference, units)),
      refunded: async () => (await gateway.authorization("p", reference))?.refunded,
      later: () => (now += LATER_MS),
    };
  }

  it("declines a refund of more than what a refund in the dashboard has left", async () => {
    const { refund, refunded, later } = await captured(`tok_refunded_elsewhere_${LATER_MS}`);
    later();
    expect(await refund("r1", 800n)).toEqual({ outcome: "declined", reason: "already_refunded" });
    expect(await refunded()).toBe(500n);
    expect(await refund("r2", 300n)).toMatchObject({ outcome: "succeeded" });
    expect(await refund("r3", 300n)).toMatchObject({ outcome: "declined" });
    expect(await refunded()).toBe(800n);
  });

  it("refunds nothing in the dashboard if what is left is less when that falls due", async () => {
    const { refund, refunded, later } = await captured(`tok_refunded_elsewhere_${LATER_MS}`);
    expect(await refund("r1", 800n)).toMatchObject({ outcome: "succeeded" });
    later();
    expect(await refunded()).toBe(800n);
  });

  it("shows a mistake of ours where nobody else was: a second key refunds more than is left", async () => {
    const { refund, refunded } = await captured("tok_ok");
    await refund("r1", 800n);
    expect(await refund("r2", 800n)).toMatchObject({ outcome: "succeeded" });
    expect(await refunded()).toBe(1_600n);
  });
}

describe("refunds in the dashboard of the simulated gateway, with a ledger in memory", () => {
  tests(async () => ({ ledger: new InMemoryGatewayLedger(), close: () => undefined }));
});

describe("refunds in the dashboard of the simulated gateway, with a ledger in SQLite", () => {
  tests(async () => {
    const directory = mkdtempSync(join(tmpdir(), "holdfast-gateway-"));
    const ledger = await SqliteGatewayLedger.open(join(directory, "g.gateway.db"));
    return {
      ledger,
      close: () => {
        ledger.close();
        rmSync(directory, { recursive: true });
      },
    };
  });
});

describeWithPostgresSchemas(
  "refunds in the dashboard of the simulated gateway, with a ledger in PostgreSQL",
  (postgres) => {
    jest.setTimeout(30_000);
    tests(async () => {
      const ledger = await PostgresGatewayLedger.open(postgres.url);
      return { ledger, close: () => ledger.close() };
    });
  },
);
