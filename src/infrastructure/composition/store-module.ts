import { ContainerModule } from "inversify";
import { join, parse } from "node:path";
import type { ApiKeyStore } from "../../application/ports/api-key-store";
import type { Clock } from "../../application/ports/clock";
import type { PaymentRepository } from "../../application/ports/payment-repository";
import type { StoreMigration } from "../../application/ports/store-migration";
import type { StoreSetting } from "../configuration/adapter-urls";
import type { GatewayLedger } from "../gateways/simulated/gateway-ledger";
import { InMemoryGatewayLedger } from "../gateways/simulated/in-memory-gateway-ledger";
import { SqliteGatewayLedger } from "../gateways/simulated/sqlite-gateway-ledger";
import { InMemoryApiKeyStore } from "../persistence/in-memory-api-key-store";
import { InMemoryPaymentRepository } from "../persistence/in-memory-payment-repository";
import { SqlApiKeyStore } from "../persistence/sql-api-key-store";
import { SqliteDatabase } from "../persistence/sqlite-database";
import { SqliteMigration } from "../persistence/sqlite-migration";
import { SqlitePaymentRepository } from "../persistence/sqlite-payment-repository";
import type { Closers } from "./closers";
import { tokens } from "./tokens";

/** Everything that lives in the store, opened. */
export interface OpenStore {
  readonly payments: PaymentRepository;
  readonly apiKeys: ApiKeyStore;
  readonly migration: StoreMigration;
  /** The simulated gateway's memory: beside the payments, never in one transaction with them. */
  readonly openGatewayLedger: () => Promise<GatewayLedger>;
}

export async function openStore(setting: StoreSetting, clock: Clock, closers: Closers): Promise<OpenStore> {
  switch (setting.kind) {
    case "memory":
      return {
        payments: new InMemoryPaymentRepository(),
        apiKeys: new InMemoryApiKeyStore(),
        migration: { migrate: async () => ({ from: 0, to: 0 }) },
        openGatewayLedger: async () => new InMemoryGatewayLedger(),
      };
    case "sqlite": {
      const sqlite = await SqliteDatabase.open(setting.file);
      closers.add(() => sqlite.close());
      return {
        payments: new SqlitePaymentRepository(sqlite),
        apiKeys: new SqlApiKeyStore(sqlite),
        migration: new SqliteMigration(sqlite, clock),
        openGatewayLedger: async () => {
          const ledger = await SqliteGatewayLedger.open(gatewayFileBeside(setting.file));
          closers.add(() => ledger.close());
          return ledger;
        },
      };
    }
    case "postgres":
      throw new Error("postgres is not opened here yet");
  }
}

export function storeModule({ payments, apiKeys, migration }: OpenStore): ContainerModule {
  return new ContainerModule(({ bind }) => {
    bind(tokens.payments).toConstantValue(payments);
    bind(tokens.apiKeys).toConstantValue(apiKeys);
    bind(tokens.migration).toConstantValue(migration);
  });
}

/** `data/holdfast.db` → `data/holdfast.gateway.db` */
function gatewayFileBeside(file: string): string {
  const { dir, name, ext } = parse(file);
  return join(dir, `${name}.gateway${ext}`);
}
