import { LeaseLockProvider } from "../../../src/infrastructure/locking/lease/lease-lock-provider";
import { PostgresLeaseRecordStore } from "../../../src/infrastructure/locking/lease/postgres/postgres-lease-record-store";
import { describeLockProvider } from "../../../src/lock-contract";
import { nextMillisecond } from "../../support/next-millisecond";
import { QUICK_LEASE } from "../../support/servers/gcs-locks";
import { query } from "../../support/servers/postgres-locks";
import { refuseReleases } from "../../support/fakes/refuse-releases";
import { describeWithPostgresSchemas } from "../../support/servers/servers";
import { tcpRelayTo } from "../../support/servers/tcp-relay";
import { typescriptChild } from "../../support/children/typescript-child";

describeWithPostgresSchemas("leases in rows of PostgreSQL", (server) => {
  let schemas = 0;
  describeLockProvider(
    { describe, it },
    {
      name: `LeaseLockProvider over ${PostgresLeaseRecordStore.name}`,
      layers: [
        "lends",
        "hands out",
        "keeps callers apart",
        "can be tried",
        "keeps for a while",
        "elects",
        "lends slots",
        "keeps processes apart",
        "keeps slots apart",
        "outlasts its process",
        "honours its lease",
        "honours the lease of a slot",
        "serves in turn",
        "answers in time",
      ],
      patienceMs: 30_000,
      open: async () => {
        const { url } = server;
        const relay = await tcpRelayTo(url);
        const schema = `lease_locks_${(schemas += 1)}`;
        const opened: (() => Promise<void>)[] = [];
        const provider = (): { locks: LeaseLockProvider; records: PostgresLeaseRecordStore } => {
          const records = new PostgresLeaseRecordStore({ url: relay.url, schema });
          const locks = new LeaseLockProvider(records, { lease: QUICK_LEASE });
          opened.push(() => locks.close().then(() => records.close()));
          return { locks, records };
        };
        const { locks, records } = provider();
        // A wait of a few milliseconds should meet contention, not a connection that is still being made.
        await records.probe();
        return {
          locks,
          leftovers: () => locks.size,
          close: async () => {
            await Promise.all(opened.map((close) => close()));
            await relay.close();
          },
          silence: () => relay.silence(),
          child: typescriptChild("postgres-lease-child.ts", url, schema),
          recoveryMs: 15_000,
          lease: {
            another: () => provider().locks,
            lose: async (id) => {
              await query(url, `DELETE FROM ${schema}.leases WHERE resource_id = $1`, [JSON.stringify(id)]);
              await nextMillisecond();
            },
            failReleases: () => refuseReleases(records),
          },
        };
      },
    },
  );
});
