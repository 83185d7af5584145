import { Redis } from "ioredis";
import { RedisLeaseRecordStore } from "../../../src/infrastructure/locking/lease/redis-lease-record-store";
import { describeWithRedis } from "../../support/servers";
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
        putText: async (id, text) => void (await stranger.set(keyPrefix + id, text)),
        close: () => {
          for (const each of [store, another]) each.close();
          stranger.disconnect();
        },
      };
    },
  });
});
