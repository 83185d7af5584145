import { Redis } from "ioredis";
import { RedisLockProvider } from "../../../src/infrastructure/locking/lease/redis/redis-lock-provider";
import { describeLockProvider, type LockContractLayer } from "../../../src/lock-contract";
import type { RedisPlace } from "../../../src/locks";
import { QUICK_LEASE } from "../../support/servers/gcs-locks";
import { nextMillisecond } from "../../support/next-millisecond";
import { refuseReleases } from "../../support/fakes/refuse-releases";
import { describeWithRedis } from "../../support/servers/servers";
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
  "outlasts its process",
  "honours its lease",
  "honours the lease of a slot",
  "serves in turn",
  "answers in time",
];

describeWithRedis("on Redis", (server) => {
  describeRedis(RedisLockProvider.name, ALL_LAYERS, (url) => url);
  describeRedis(
    `${RedisLockProvider.name} with a client that was brought`,
    ["lends", "keeps callers apart", "honours its lease", "answers in time"],
    // It never connects: only what it is configured with is taken.
    (url) => new Redis(url, { lazyConnect: true }),
  );

  function describeRedis(
    name: string,
    layers: readonly LockContractLayer[],
    placeAt: (url: string) => RedisPlace,
  ): void {
    describeLockProvider(
      { describe, it },
      {
        name,
        layers,
        patienceMs: 30_000,
        open: async () => {
          const { keyPrefix } = server;
          const relay = await tcpRelayTo(server.url);
          const { url } = relay;
          const opened: RedisLockProvider[] = [];
          const provider = (): RedisLockProvider => {
            const made = new RedisLockProvider(placeAt(url), { keyPrefix, lease: QUICK_LEASE });
            opened.push(made);
            return made;
          };
          const locks = provider();
          // A wait of a few milliseconds should meet contention, not a connection that is still being made.
          await locks.records.probe();
          return {
            locks,
            leftovers: () => locks.size,
            close: async () => {
              await Promise.all(opened.map((each) => each.close()));
              await relay.close();
            },
            silence: () => relay.silence(),
            child: typescriptChild("redis-lock-child.ts", server.url, keyPrefix),
            // The lease and its margin, and the last look of the one who waits.
            recoveryMs: 15_000,
            lease: {
              another: provider,
              // As after a restart that forgot: what the holder had is gone.
              lose: async (id) => {
                const redis = new Redis(server.url);
                await redis.del(keyPrefix + id);
                redis.disconnect();
                await nextMillisecond();
              },
              failReleases: () => refuseReleases(locks.records),
            },
          };
        },
      },
    );
  }
});
