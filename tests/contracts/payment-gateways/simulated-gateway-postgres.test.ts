import { PostgresGatewayLedger } from "../../../src/infrastructure/gateways/simulated/ledgers/postgres-gateway-ledger";
import { describeWithPostgresSchemas } from "../../support/servers/servers";
import { describePaymentGateway } from "../../../src/gateway-contract";
import { simulatedGatewayHarness } from "./simulated-gateway-harness";

describeWithPostgresSchemas("SimulatedGateway's ledger in PostgreSQL", (postgres) => {
  describePaymentGateway(
    { describe, it },
    simulatedGatewayHarness("SimulatedGateway with a ledger in PostgreSQL", async () => {
      const ledger = await PostgresGatewayLedger.open(postgres.url);
      return { ledger, close: () => ledger.close() };
    }),
  );
});
