import { PostgresLeaseRecordStore } from "../../../src/infrastructure/locking/lease/postgres/postgres-lease-record-store";
import { query } from "../../support/servers/postgres-locks";
import { describeWithPostgresSchemas } from "../../support/servers/servers";
import { describeLeaseRecordStoreContract } from "./lease-record-store-contract";

describeWithPostgresSchemas("on PostgreSQL", (server) => {
  let schemas = 0;
  describeLeaseRecordStoreContract({
    name: PostgresLeaseRecordStore.name,
    hasClock: true,
    open: () => {
      const { url } = server;
      const schema = `leases_${(schemas += 1)}`;
      const store = new PostgresLeaseRecordStore({ url, schema });
      const another = new PostgresLeaseRecordStore({ url, schema });
      return {
        store,
        another,
        place: (id) => `the row of "${id}" in ${schema}.leases`,
        putText: async (id, text) => {
          await store.probe();
          await query(
            url,
            `INSERT INTO ${schema}.leases (key, resource_id, record, version, written_at)
             VALUES (encode(sha256($1::bytea), 'hex'), $2, $3, nextval('${schema}.lease_version'), now())
             ON CONFLICT (key) DO UPDATE SET record = excluded.record, version = excluded.version`,
            [Buffer.from(id), JSON.stringify(id), text],
          );
        },
        close: async () => {
          await Promise.all([store.close(), another.close()]);
        },
      };
    },
  });
});
