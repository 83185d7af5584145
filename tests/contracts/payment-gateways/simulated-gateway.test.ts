import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { InMemoryGatewayLedger } from "../../../src/infrastructure/gateways/simulated/ledgers/in-memory-gateway-ledger";
import { SqliteGatewayLedger } from "../../../src/infrastructure/gateways/simulated/ledgers/sqlite-gateway-ledger";
import { describePaymentGateway } from "../../../src/gateway-contract";
import { simulatedGatewayHarness } from "./simulated-gateway-harness";

describePaymentGateway(
  { describe, it },
  simulatedGatewayHarness("SimulatedGateway with a ledger in memory", async () => ({
    ledger: new InMemoryGatewayLedger(),
    close: () => undefined,
  })),
);

describePaymentGateway(
  { describe, it },
  simulatedGatewayHarness("SimulatedGateway with a ledger in SQLite", async () => {
    const directory = mkdtempSync(join(tmpdir(), "holdfast-gateway-"));
    const ledger = await SqliteGatewayLedger.open(join(directory, "data", "holdfast.gateway.db"));
    return {
      ledger,
      close: () => {
        ledger.close();
        rmSync(directory, { recursive: true });
      },
    };
  }),
);
