import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { PaymentGateway } from "../../../src/application/ports/payment-gateway";
import { money, parseCurrency, type Currency } from "../../../src/domain/money";
import { minorUnitDigits } from "../../../src/domain/currencies";
import { InMemoryGatewayLedger } from "../../../src/infrastructure/gateways/simulated/ledgers/in-memory-gateway-ledger";
import { SimulatedGateway } from "../../../src/infrastructure/gateways/simulated/simulated-gateway";
import { fromStripeAmount, toStripeAmount } from "../../../src/infrastructure/gateways/stripe/stripe-amount";
import { startStripe } from "./stripe-gateway-harness";

/** What each gateway is told for so many minor units of each currency. A file, so that no platform has a say in it. */
interface GatewayAmounts {
  readonly minorUnits: readonly number[];
  readonly gateways: Readonly<
    Record<"simulated" | "stripe", Readonly<Record<string, readonly (number | string)[]>>>
  >;
}

const file = join(__dirname, "../../fixtures/gateway-amounts.json");
const { minorUnits, gateways } = JSON.parse(readFileSync(file, "utf8")) as GatewayAmounts;
const currencies = [...minorUnitDigits.keys()].sort();
/** The one that is really sent, in each currency. */
const SENT = 12_500;

function authorize(gateway: PaymentGateway, code: string, paymentMethod: string, paymentId: string) {
  return gateway.authorize({
    gatewayKey: randomUUID(),
    operationId: randomUUID(),
    paymentId,
    amount: money(BigInt(SENT), parseCurrency(code)),
    timeoutMs: 5_000,
    paymentMethod,
  });
}

describe("the amount that a gateway is told, in every currency", () => {
  it("the amount that a gateway is told, in every currency is in the file for each gateway", () => {
    for (const amounts of Object.values(gateways)) expect(Object.keys(amounts).sort()).toEqual(currencies);
    expect(minorUnits).toContain(SENT);
  });

  it("the amount that a gateway is told, in every currency is the file's for Stripe, and there and back the same", () => {
    const told = currencies.map((code) => [
      code,
      minorUnits.map((units) => toStripeAmount(money(BigInt(units), code as Currency))),
    ]);
    expect(Object.fromEntries(told)).toEqual(gateways.stripe);
    for (const code of currencies) {
      minorUnits.forEach((units, n) => {
        const said = gateways.stripe[code]?.[n];
        if (typeof said === "number")
          expect(fromStripeAmount(said, code.toLowerCase())).toEqual(money(BigInt(units), code as Currency));
      });
    }
  });

  it("the amount that a gateway is told, in every currency is what a request to Stripe really says", async () => {
    const { standIn, gateway, stop } = await startStripe();
    try {
      const told: Record<string, number | string> = {};
      for (const code of currencies) {
        const answer = await authorize(gateway, code, "pm_card_visa", randomUUID());
        const intent = "reference" in answer ? standIn.world.intents.get(answer.reference ?? "") : undefined;
        expect(intent?.currency ?? code.toLowerCase()).toBe(code.toLowerCase());
        told[code] = intent?.amount ?? ("reason" in answer ? answer.reason : answer.outcome);
      }
      expect(told).toEqual(column(gateways.stripe));
    } finally {
      await stop();
    }
  });

  it("the amount that a gateway is told, in every currency is what the simulated gateway moves", async () => {
    const gateway = new SimulatedGateway({
      ledger: new InMemoryGatewayLedger(),
      clock: { now: () => new Date("2026-11-18T09:00:00.000Z") },
    });
    const told: Record<string, number | string> = {};
    for (const code of currencies) {
      const paymentId = randomUUID();
      await authorize(gateway, code, "tok_ok", paymentId);
      const [move] = await gateway.moves(paymentId);
      expect(move?.amount.currency).toBe(code);
      told[code] = Number(move?.amount.amount);
    }
    expect(told).toEqual(column(gateways.simulated));
  });
});

function column(amounts: Readonly<Record<string, readonly (number | string)[]>>) {
  const n = minorUnits.indexOf(SENT);
  return Object.fromEntries(Object.entries(amounts).map(([code, told]) => [code, told[n]]));
}
