import {
  PermanentLeaseStoreError,
  TransientLeaseStoreError,
} from "../../../../../src/infrastructure/locking/lease/protocol/lease-record-store";
import { RedisLeaseRecordStore } from "../../../../../src/infrastructure/locking/lease/redis/redis-lease-record-store";
import { freePort } from "../../../../support/servers/own-process";
import { describeWithRedis } from "../../../../support/servers/servers";

jest.setTimeout(30_000);

async function failureOf(url: string): Promise<Error> {
  const records = new RedisLeaseRecordStore({ url });
  try {
    return await records.probe().then(
      () => new Error("it answered"),
      (error: Error) => error,
    );
  } finally {
    records.close();
  }
}

test("sentinels that are not there fail a request, which says so", async () => {
  const port = await freePort();
  const failure = await failureOf(`redis+sentinel://127.0.0.1:${port}/locks`);
  expect(failure).toBeInstanceOf(TransientLeaseStoreError);
  expect(failure.message).toContain(`Redis is not reached (no sentinel answers at 127.0.0.1:${port}: `);
});

describeWithRedis("a Redis under the URL of a sentinel", (server) => {
  test("a Redis under the URL of a sentinel is refused in words, for good", async () => {
    const { host } = new URL(server.url);
    const failure = await failureOf(`redis+sentinel://${host}/locks`);
    expect(failure).toBeInstanceOf(PermanentLeaseStoreError);
    expect(failure.message).toMatch(/this is no sentinel: the URL of a single Redis begins with redis:/);
  });
});
