import { Redis } from "ioredis";
import { PermanentLeaseStoreError } from "../../../../../src/infrastructure/locking/lease/protocol/lease-record-store";
import { RedisLockProvider } from "../../../../../src/infrastructure/locking/lease/redis/redis-lock-provider";
import { describeWithRedis } from "../../../../support/servers/servers";

jest.setTimeout(30_000);

describeWithRedis("a database that the server does not have", (server) => {
  test("a database that the server does not have is refused each time, and never stands for database 0", async () => {
    const { url, keyPrefix } = server;
    const missing = new URL(url);
    missing.pathname = "/999999999";
    const provider = new RedisLockProvider(missing.href, { keyPrefix });
    const admin = new Redis(url, { db: 0 });
    try {
      for (let times = 0; times < 3; times += 1) {
        await expect(provider.records.probe()).rejects.toThrow(PermanentLeaseStoreError);
        await expect(provider.withLock("a", () => "in", { timeout: 5_000 })).rejects.toThrow(
          /the database in the URL is refused: ERR .*DB index/,
        );
      }
      expect(await admin.keys(`${keyPrefix}*`)).toEqual([]);
    } finally {
      await provider.close();
      admin.disconnect();
    }
  });
});
