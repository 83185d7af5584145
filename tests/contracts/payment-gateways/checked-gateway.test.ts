import type { OwnGateway } from "../../../src/gateway";
import { describePaymentGateway } from "../../../src/gateway-contract";
import { gatewayLayerNames } from "../../../src/infrastructure/gateways/contract/gateway-layers";
import { CheckedGateway } from "../../../src/infrastructure/gateways/module/checked-gateway";
import { InMemoryGatewayLedger } from "../../../src/infrastructure/gateways/simulated/ledgers/in-memory-gateway-ledger";
import { simulatedGatewayHarness } from "./simulated-gateway-harness";

const simulated = simulatedGatewayHarness("CheckedGateway, around a gateway that is sound", async () => ({
  ledger: new InMemoryGatewayLedger(),
  close: () => undefined,
}));

describePaymentGateway(
  { describe, it },
  {
    ...simulated,
    open: async () => {
      const opened = await simulated.open();
      const own: OwnGateway = Object.assign(opened.gateway, { has: gatewayLayerNames });
      return { ...opened, gateway: new CheckedGateway(own) };
    },
  },
);
