import { copyFile, mkdtemp, rm } from "node:fs/promises";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { randomBytes } from "node:crypto";
import { Mutex } from "async-mutex";
import { Client } from "pg";
import type { PaymentRepository } from "../../../src/application/ports/payment-repository";
import type { GatewayLedger } from "../../../src/infrastructure/gateways/simulated/ledgers/gateway-ledger";
import { InMemoryGatewayLedger } from "../../../src/infrastructure/gateways/simulated/ledgers/in-memory-gateway-ledger";
import { SqliteGatewayLedger } from "../../../src/infrastructure/gateways/simulated/ledgers/sqlite-gateway-ledger";
import { InMemoryPaymentRepository } from "../../../src/infrastructure/persistence/memory/in-memory-payment-repository";
import { PostgresDatabase } from "../../../src/infrastructure/persistence/postgres/postgres-database";
import { PostgresPaymentRepository } from "../../../src/infrastructure/persistence/postgres/postgres-payment-repository";
import { SqliteDatabase } from "../../../src/infrastructure/persistence/sqlite/sqlite-database";
import { SqlitePaymentRepository } from "../../../src/infrastructure/persistence/sqlite/sqlite-payment-repository";
import { migratedPostgres } from "../../support/servers/migrated-postgres";
import { openMigrated } from "../../support/worlds/temporary-sqlite";

export const storeKinds = ["memory", "sqlite", "postgres"] as const;
export type StoreKind = (typeof storeKinds)[number];

/** What one life is lived on: empty, and nobody else's. */
export interface LifeStore {
  readonly payments: PaymentRepository;
  readonly ledger: GatewayLedger;
  close(): Promise<void>;
}

/** Opens one empty store after the other, quickly: each is a copy of one that was migrated once. */
export interface LifeStores {
  open(): Promise<LifeStore>;
  close(): Promise<void>;
}

/** `server`: the URL of the PostgreSQL in which databases are made and dropped. */
export function lifeStores(kind: StoreKind, server: string): Promise<LifeStores> {
  switch (kind) {
    case "memory":
      return Promise.resolve(memoryStores);
    case "sqlite":
      return sqliteStores();
    case "postgres":
      return postgresStores(server);
  }
}

const memoryStores: LifeStores = {
  open: async () => ({
    payments: new InMemoryPaymentRepository(),
    ledger: new InMemoryGatewayLedger(),
    close: async () => {},
  }),
  close: async () => {},
};

/** Where there is a disk in memory, the flush that each commit waits for takes no time; the adapter is the same. */
const quickDisk = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

async function sqliteStores(): Promise<LifeStores> {
  const folder = await mkdtemp(join(quickDisk, "holdfast-life-"));
  const template = join(folder, "template.db");
  (await openMigrated(template)).close();
  let opened = 0;
  return {
    open: async () => {
      const path = join(folder, `${(opened += 1)}.db`);
      await copyFile(template, path);
      const sqlite = await SqliteDatabase.open(path);
      const ledger = await SqliteGatewayLedger.open(`${path}.gateway`);
      return {
        payments: new SqlitePaymentRepository(sqlite),
        ledger,
        close: async () => {
          ledger.close();
          sqlite.close();
          for (const ending of ["", ".gateway"])
            for (const part of ["", "-wal", "-shm"]) await rm(path + ending + part, { force: true });
        },
      };
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

/** The gateway's books are in memory: they are not what is tested here, and would double the time. */
async function postgresStores(server: string): Promise<LifeStores> {
  const name = `holdfast_life_${randomBytes(6).toString("hex")}`;
  const client = new Client({ connectionString: server });
  await client.connect();
  const urlOf = (database: string) => {
    const url = new URL(server);
    url.pathname = `/${database}`;
    return url.href;
  };
  // One connection, and a template that nobody else may be copying.
  const mutex = new Mutex();
  const administer = (statement: string) => mutex.runExclusive(() => client.query(statement));
  await administer(`CREATE DATABASE ${name}`);
  await (await migratedPostgres(urlOf(name))).close();
  let opened = 0;
  return {
    open: async () => {
      const own = `${name}_${(opened += 1)}`;
      await administer(`CREATE DATABASE ${own} TEMPLATE ${name}`);
      const postgres = new PostgresDatabase(urlOf(own));
      return {
        payments: new PostgresPaymentRepository(postgres),
        ledger: new InMemoryGatewayLedger(),
        close: async () => {
          await postgres.close();
          await administer(`DROP DATABASE ${own} WITH (FORCE)`);
        },
      };
    },
    close: async () => {
      await administer(`DROP DATABASE ${name} WITH (FORCE)`);
      await client.end();
    },
  };
}
