import { describe, it } from "node:test";
import type { AuthorizationLookup } from "../../../../src/application/ports/authorization-lookup";
import type { PaymentGateway } from "../../../../src/application/ports/payment-gateway";
import { describePaymentGateway } from "../../../../src/gateway-contract";
import { InMemoryGatewayLedger } from "../../../../src/infrastructure/gateways/simulated/ledgers/in-memory-gateway-ledger";
import { simulatedGatewayHarness } from "../../../contracts/payment-gateways/simulated-gateway-harness";
import { brokenGateways } from "../../fakes/broken-gateways";

const isGood = process.argv[2] === "good";
const simulated = simulatedGatewayHarness("a gateway", async () => ({
  ledger: new InMemoryGatewayLedger(),
  close: () => undefined,
}));

describePaymentGateway(
  { describe, it: (name, body, timeout) => it(name, timeout === undefined ? {} : { timeout }, body) },
  {
    ...simulated,
    open: async () => {
      const opened = await simulated.open();
      if (isGood) return opened;
      const good = opened.gateway as PaymentGateway & AuthorizationLookup;
      return { ...opened, gateway: brokenGateways.forgetsItsKeys(good) };
    },
  },
);
