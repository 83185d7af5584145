import { join, parse } from "node:path";
import type { ApiKeyStore } from "../../application/ports/api-key-store";
import type { Clock } from "../../application/ports/clock";
import type { PaymentRepository } from "../../application/ports/payment-repository";
import type { StoreMigration } from "../../application/ports/store-migration";
import type { StoreSetting } from "../configuration/adapter-urls";
import type { GatewayLedger } from "../gateways/simulated/gateway-ledger";
import { InMemoryGatewayLedger } from "../gateways/simulated/in-memory-gateway-ledger";
import { PostgresGatewayLedger } from "../gateways/simulated/postgres-gateway-ledger";
import { SqliteGatewayLedger } from "../gateways/simulated/sqlite-gateway-ledger";
import { InMemoryApiKeyStore } from "../persistence/in-memory-api-key-store";
import { InMemoryPaymentRepository } from "../persistence/in-memory-payment-repository";
import { PostgresDatabase } from "../persistence/postgres-database";
import { PostgresMigration } from "../persistence/postgres-migration";
import { PostgresPaymentRepository } from "../persistence/postgres-payment-repository";
import { RememberedApiKeys } from "../persistence/remembered-api-keys";
import { SqlApiKeyStore } from "../persistence/sql-api-key-store";
import { SqliteDatabase } from "../persistence/sqlite-database";
import { SqliteMigration } from "../persistence/sqlite-migration";
import { SqlitePaymentRepository } from "../persistence/sqlite-payment-repository";
import type { Closers } from "./closers";

/** Everything that lives in the store, opened. */
export interface OpenStore {
  readonly payments: PaymentRepository;
  readonly apiKeys: ApiKeyStore;
  readonly migration: StoreMigration;
  /** The simulated gateway's memory: beside the payments, never in one transaction with them. */
  readonly openGatewayLedger: () => Promise<GatewayLedger>;
  /** How the pool is doing, where there is one. */
  readonly connections?: () => PostgresDatabase["connections"];
}

export interface StoreOptions {
  /** Where the store has a pool: its connections at most, in this process. */
  readonly maxConnections?: number;
}

export async function openStore(
  setting: StoreSetting,
  clock: Clock,
  closers: Closers,
  options: StoreOptions = {},
): Promise<OpenStore> {
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
    case "postgres": {
      const postgres = new PostgresDatabase(setting.url, options);
      closers.add(() => postgres.close());
      return {
        payments: new PostgresPaymentRepository(postgres),
        apiKeys: new RememberedApiKeys(new SqlApiKeyStore(postgres), () => performance.now()),
        migration: new PostgresMigration(postgres, clock),
        connections: () => postgres.connections,
        openGatewayLedger: async () => {
          const ledger = await PostgresGatewayLedger.open(setting.url);
          closers.add(() => ledger.close());
          return ledger;
        },
      };
    }
  }
}

/** `data/holdfast.db` → `data/holdfast.gateway.db` */
function gatewayFileBeside(file: string): string {
  const { dir, name, ext } = parse(file);
  return join(dir, `${name}.gateway${ext}`);
}
