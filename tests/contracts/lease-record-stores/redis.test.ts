import { Redis } from "ioredis";
import { RedisLeaseRecordStore } from "../../../src/infrastructure/locking/lease/redis/redis-lease-record-store";
import { describeWithRedis } from "../../support/servers/servers";
import { describeLeaseRecordStoreContract } from "./lease-record-store-contract";

describeWithRedis("on Redis", (server) => {
  describeLeaseRecordStoreContract({
    name: RedisLeaseRecordStore.name,
    hasClock: true,
    open: () => {
      const { url, keyPrefix } = server;
      const store = new RedisLeaseRecordStore({ url, keyPrefix });
      const another = new RedisLeaseRecordStore({ url, keyPrefix });
      const stranger = new Redis(url);
      return {
        store,
        another,
        place: (id) => `the Redis key ${keyPrefix}${id}`,
        // Somebody else's key is of any type; a peer's record is a hash.
        putText: async (id, text) => {
          await stranger.del(keyPrefix + id);
          if (text.startsWith("{"))
            await stranger.hset(keyPrefix + id, { record: text, version: "of-a-peer", at: Date.now() });
          else await stranger.set(keyPrefix + id, text);
        },
        close: () => {
          for (const each of [store, another]) each.close();
          stranger.disconnect();
        },
      };
    },
  });
});
