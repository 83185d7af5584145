import { PostgresGatewayLedger } from "../../../src/infrastructure/gateways/simulated/ledgers/postgres-gateway-ledger";
import { describeWithPostgresSchemas } from "../../support/servers/servers";
import { describeGatewayPictureContract } from "./gateway-picture-contract";
import { describePaymentGatewayContract } from "./payment-gateway-contract";
import { simulatedGatewayHarness } from "./simulated-gateway-harness";

describeWithPostgresSchemas("SimulatedGateway's ledger in PostgreSQL", (postgres) => {
  const harness = simulatedGatewayHarness("SimulatedGateway with a ledger in PostgreSQL", async () => {
    const ledger = await PostgresGatewayLedger.open(postgres.url);
    return { ledger, close: () => ledger.close() };
  });
  describePaymentGatewayContract(harness);
  describeGatewayPictureContract(harness);
});
