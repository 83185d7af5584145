import { Pool } from "pg";
import { PostgresLockProvider } from "../../../src/infrastructure/locking/postgres/postgres-lock-provider";
import { describeLockProvider, type LockContractLayer } from "../../../src/lock-contract";
import type { PostgresPlace } from "../../../src/locks";
import { query, terminateHolder } from "../../support/servers/postgres-locks";
import { describeWithPostgresSchemas } from "../../support/servers/servers";
import { tcpRelayTo } from "../../support/servers/tcp-relay";
import { typescriptChild } from "../../support/children/typescript-child";

const ALL_LAYERS: readonly LockContractLayer[] = [
  "lends",
  "hands out",
  "keeps callers apart",
  "can be tried",
  "keeps for a while",
  "elects",
  "lends slots",
  "keeps processes apart",
  "keeps slots apart",
  "honours its lease",
  "answers in time",
];

describeWithPostgresSchemas("on PostgreSQL", (server) => {
  let schemas = 0;
  describePostgres(PostgresLockProvider.name, ALL_LAYERS, (url) => url);
  describePostgres(
    `${PostgresLockProvider.name} with a pool that was brought`,
    ["lends", "keeps callers apart", "honours its lease", "answers in time"],
    // It never connects: only what it is configured with is taken.
    (connectionString) => new Pool({ connectionString }),
  );

  function describePostgres(
    name: string,
    layers: readonly LockContractLayer[],
    placeAt: (url: string) => PostgresPlace,
  ): void {
    describeLockProvider(
      { describe, it },
      {
        name,
        layers,
        open: async () => {
          const { url } = server;
          const schema = `locks_${(schemas += 1)}`;
          const relay = await tcpRelayTo(url);
          const locks = new PostgresLockProvider(placeAt(relay.url), { schema });
          const opened = [locks];
          // A wait of a few milliseconds should meet contention, not a connection that is still being made.
          await locks.probe();
          return {
            locks,
            leftovers: () => locks.size,
            child: typescriptChild("postgres-lock-child.ts", url, schema),
            close: async () => {
              await Promise.all(opened.map((provider) => provider.close()));
              await relay.close();
            },
            silence: () => relay.silence(),
            lease: {
              another: () => {
                const another = new PostgresLockProvider(placeAt(url), { schema });
                opened.push(another);
                return another;
              },
              lose: (resourceId) => terminateHolder(url, schema, resourceId),
              failReleases: async () => {
                await locks.withLock("first", async () => {});
                await query(
                  url,
                  `CREATE FUNCTION ${schema}.refuse() RETURNS trigger LANGUAGE plpgsql AS
                   $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
                 CREATE TRIGGER refuse BEFORE DELETE ON ${schema}.holds FOR EACH STATEMENT
                   EXECUTE FUNCTION ${schema}.refuse()`,
                );
              },
            },
          };
        },
      },
    );
  }
});
