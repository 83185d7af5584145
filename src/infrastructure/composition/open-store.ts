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
import type { LostLog } from "../persistence/sqlite-commit-mark";
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
  /** Of the files that are open: what an unclean stop has cost them. */
  readonly lostLogs: () => readonly LostLog[];
}

export interface StoreOptions {
  /** Where the store has a pool: its connections at most, in this process. */
  readonly maxConnections?: number;
  /** Where the store is a file: go on although its log was lost. */
  readonly acceptLostLog?: boolean;
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
        lostLogs: () => [],
        openGatewayLedger: async () => new InMemoryGatewayLedger(),
      };
    case "sqlite": {
      const lostLogs: LostLog[] = [];
      const note = ({ lostLog }: { readonly lostLog: LostLog | null }) => {
        if (lostLog !== null) lostLogs.push(lostLog);
      };
      const sqlite = await SqliteDatabase.open(setting.file, options);
      note(sqlite);
      closers.add(() => sqlite.close());
      return {
        payments: new SqlitePaymentRepository(sqlite),
        apiKeys: new SqlApiKeyStore(sqlite),
        migration: new SqliteMigration(sqlite, clock),
        lostLogs: () => lostLogs,
        openGatewayLedger: async () => {
          const ledger = await SqliteGatewayLedger.open(gatewayFileBeside(setting.file), options);
          note(ledger);
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
        lostLogs: () => [],
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
export function gatewayFileBeside(file: string): string {
  const { dir, name, ext } = parse(file);
  return join(dir, `${name}.gateway${ext}`);
}
