import { PostgresLockProvider } from "../../../src/infrastructure/locking/postgres/postgres-lock-provider";
import { describeLockProvider } from "../../../src/lock-contract";
import { query, terminateHolder } from "../../support/servers/postgres-locks";
import { describeWithPostgresSchemas } from "../../support/servers/servers";
import { tcpRelayTo } from "../../support/servers/tcp-relay";
import { typescriptChild } from "../../support/children/typescript-child";

describeWithPostgresSchemas("on PostgreSQL", (server) => {
  let schemas = 0;
  describeLockProvider(
    { describe, it },
    {
      name: PostgresLockProvider.name,
      layers: [
        "lends",
        "keeps callers apart",
        "keeps processes apart",
        "honours its lease",
        "answers in time",
      ],
      open: async () => {
        const { url } = server;
        const schema = `locks_${(schemas += 1)}`;
        const relay = await tcpRelayTo(url);
        const locks = new PostgresLockProvider(relay.url, { schema });
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
              const another = new PostgresLockProvider(url, { schema });
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
});
