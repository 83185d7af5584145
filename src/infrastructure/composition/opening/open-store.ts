import { existsSync } from "node:fs";
import { join, parse } from "node:path";
import type { MerchantAccountStore } from "../../../application/ports/accounts/merchant-account-store";
import type { ApiKeyStore } from "../../../application/ports/api-key-store";
import type { AuditTrail } from "../../../application/ports/audit/audit-trail";
import type { Clock } from "../../../application/ports/clock";
import type { ConsoleSessionStore } from "../../../application/ports/console/console-session-store";
import type { EventFeed } from "../../../application/ports/events/event-feed";
import { StoreUnavailableError, type PaymentRepository } from "../../../application/ports/payment-repository";
import type { HintStore } from "../../../application/ports/gateway-events/hint-store";
import type { WebhookStore } from "../../../application/ports/events/webhook-store";
import type { StoreMigration } from "../../../application/ports/store-migration";
import type { StoreSetting } from "../../configuration/adapter-urls";
import type { Effective } from "../../configuration/setting-source";
import type { GatewayLedger } from "../../gateways/simulated/ledgers/gateway-ledger";
import { InMemoryGatewayLedger } from "../../gateways/simulated/ledgers/in-memory-gateway-ledger";
import { PostgresGatewayLedger } from "../../gateways/simulated/ledgers/postgres-gateway-ledger";
import { SqliteGatewayLedger } from "../../gateways/simulated/ledgers/sqlite-gateway-ledger";
import { SqlAuditTrail } from "../../persistence/audit/sql-audit-trail";
import { PublicationsHeard } from "../../persistence/events/publications-heard";
import { InMemoryAuditTrail } from "../../persistence/memory/in-memory-audit-trail";
import { InMemoryApiKeyStore } from "../../persistence/memory/in-memory-api-key-store";
import { InMemoryConsoleSessionStore } from "../../persistence/memory/in-memory-console-session-store";
import { InMemoryHintStore } from "../../persistence/memory/in-memory-hint-store";
import { InMemoryMerchantAccountStore } from "../../persistence/memory/in-memory-merchant-account-store";
import { InMemoryPaymentRepository } from "../../persistence/memory/in-memory-payment-repository";
import { InMemoryWebhookStore } from "../../persistence/memory/webhooks/in-memory-webhook-store";
import { PostgresDatabase } from "../../persistence/postgres/postgres-database";
import { PostgresMigration } from "../../persistence/postgres/postgres-migration";
import { PostgresEventFeed } from "../../persistence/postgres/postgres-event-feed";
import { PostgresHintStore } from "../../persistence/postgres/postgres-hint-store";
import { PostgresPaymentRepository } from "../../persistence/postgres/postgres-payment-repository";
import { PostgresWebhookStore } from "../../persistence/postgres/webhooks/postgres-webhook-store";
import { RememberedApiKeys } from "../../persistence/remembered-api-keys";
import { SqlApiKeyStore } from "../../persistence/sql/sql-api-key-store";
import { SqlConsoleSessionStore } from "../../persistence/sql/sql-console-session-store";
import { SqlMerchantAccountStore } from "../../persistence/sql/sql-merchant-account-store";
import type { LostLog } from "../../persistence/sqlite/sqlite-commit-mark";
import { SqliteDatabase } from "../../persistence/sqlite/sqlite-database";
import { SqliteMigration } from "../../persistence/sqlite/sqlite-migration";
import { SqliteEventFeed } from "../../persistence/sqlite/sqlite-event-feed";
import { SqliteHintStore } from "../../persistence/sqlite/sqlite-hint-store";
import { SqlitePaymentRepository } from "../../persistence/sqlite/sqlite-payment-repository";
import { SqlTraceContexts } from "../../persistence/traces/sql-trace-contexts";
import type { TraceContexts } from "../../persistence/traces/trace-contexts";
import { SqliteWebhookStore } from "../../persistence/sqlite/webhooks/sqlite-webhook-store";
import type { StoreTelemetry } from "../../telemetry/store-metrics";
import type { Closers } from "./closers";

/** Everything that lives in the store, opened. */
export interface OpenStore {
  readonly payments: PaymentRepository;
  readonly eventFeed: EventFeed;
  readonly webhooks: WebhookStore;
  readonly hints: HintStore;
  readonly apiKeys: ApiKeyStore;
  readonly consoleSessions: ConsoleSessionStore;
  readonly merchantAccounts: MerchantAccountStore;
  readonly auditTrail: AuditTrail;
  readonly traceContexts: TraceContexts;
  readonly migration: StoreMigration;
  /** The simulated gateway's memory: beside the payments, never in one transaction with them. */
  readonly openGatewayLedger: () => Promise<GatewayLedger>;
  /** How its pool and its commits are doing, where it has them. */
  readonly telemetry: StoreTelemetry;
  /** Of the files that are open: what an unclean stop has cost them. */
  readonly lostLogs: () => readonly LostLog[];
}

export interface StoreOptions {
  /** Where the store has a pool: its connections at most, in this process. */
  readonly maxConnections?: number;
  /** Where the store is a file: go on although its log was lost. */
  readonly acceptLostLog?: boolean;
}

/** A mistyped path would look like a store without anything in it, and would leave one behind. */
export function assertStoreExists({
  value,
  source,
}: Pick<Effective<StoreSetting>, "value" | "source">): void {
  if (value.kind !== "sqlite" || existsSync(value.file)) return;
  throw new StoreUnavailableError(
    `there is no store at ${value.file} (${source}): check the path; holdfast serve and holdfast keys create make a new one`,
  );
}

export async function openStore(
  setting: StoreSetting,
  clock: Clock,
  closers: Closers,
  options: StoreOptions = {},
): Promise<OpenStore> {
  const heard = new PublicationsHeard();
  const onPublished = () => heard.published();
  switch (setting.kind) {
    case "memory": {
      const auditTrail = new InMemoryAuditTrail();
      const payments = new InMemoryPaymentRepository(undefined, auditTrail);
      const apiKeys = new InMemoryApiKeyStore(auditTrail);
      return {
        payments,
        eventFeed: payments.feed,
        webhooks: new InMemoryWebhookStore((event) => payments.feed.append([event]), auditTrail),
        hints: new InMemoryHintStore(),
        apiKeys: remembered(apiKeys, clock),
        consoleSessions: new InMemoryConsoleSessionStore(apiKeys),
        merchantAccounts: new InMemoryMerchantAccountStore(auditTrail),
        auditTrail,
        traceContexts: payments.traceContexts,
        migration: { migrate: async () => ({ from: 0, to: 0 }) },
        telemetry: {},
        lostLogs: () => [],
        openGatewayLedger: async () => new InMemoryGatewayLedger(),
      };
    }
    case "sqlite": {
      const lostLogs: LostLog[] = [];
      const note = ({ lostLog }: { readonly lostLog: LostLog | null }) => {
        if (lostLog !== null) lostLogs.push(lostLog);
      };
      const sqlite = await SqliteDatabase.open(setting.file, options);
      note(sqlite);
      closers.add(() => sqlite.close());
      const payments = new SqlitePaymentRepository(sqlite, onPublished);
      return {
        payments,
        eventFeed: new SqliteEventFeed(sqlite, heard),
        webhooks: new SqliteWebhookStore(sqlite, onPublished),
        hints: new SqliteHintStore(sqlite),
        // A file that has lost its log is left as it is.
        apiKeys: remembered(
          new SqlApiKeyStore(sqlite),
          lostLogs.every(({ isAccepted }) => isAccepted) ? clock : undefined,
        ),
        consoleSessions: new SqlConsoleSessionStore(sqlite),
        merchantAccounts: new SqlMerchantAccountStore(sqlite),
        auditTrail: new SqlAuditTrail(sqlite),
        traceContexts: new SqlTraceContexts(sqlite, payments),
        migration: new SqliteMigration(sqlite, clock),
        telemetry: { onCommit: (listener) => (sqlite.onCommit = listener) },
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
      const payments = new PostgresPaymentRepository(postgres, onPublished);
      return {
        payments,
        eventFeed: new PostgresEventFeed(postgres, heard),
        webhooks: new PostgresWebhookStore(postgres, onPublished),
        hints: new PostgresHintStore(postgres),
        apiKeys: remembered(new SqlApiKeyStore(postgres), clock),
        consoleSessions: new SqlConsoleSessionStore(postgres),
        merchantAccounts: new SqlMerchantAccountStore(postgres),
        auditTrail: new SqlAuditTrail(postgres),
        traceContexts: new SqlTraceContexts(postgres, payments),
        migration: new PostgresMigration(postgres, clock),
        telemetry: {
          connections: () => postgres.connections,
          onConnection: (listener) => (postgres.onConnection = listener),
        },
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

function remembered(store: ApiKeyStore, clock: Clock | undefined): ApiKeyStore {
  return new RememberedApiKeys(store, () => performance.now(), clock);
}

/** `data/holdfast.db` → `data/holdfast.gateway.db` */
export function gatewayFileBeside(file: string): string {
  const { dir, name, ext } = parse(file);
  return join(dir, `${name}.gateway${ext}`);
}

/** `data/holdfast.db` → `data/holdfast.secrets-key` */
export function secretsKeyFileBeside(file: string): string {
  const { dir, name } = parse(file);
  return join(dir, `${name}.secrets-key`);
}
