import { setTimeout as pause } from "node:timers/promises";
import { GcsStandIn } from "../../support/gcs-stand-in/gcs-stand-in";
import { startOwnPostgres } from "../../support/servers/own-postgres";
import { startOwnRedis } from "../../support/servers/own-redis";
import { describeAtFullSize, describeWithOwn, testAtFullSize } from "../../support/servers/servers";
import { Storm, type StormKind } from "../../support/worlds/lock-storm";
import { temporaryDirectory } from "../../support/worlds/temporary-directory";

jest.setTimeout(240_000);

const temporary = temporaryDirectory();

/** Kills and stops leaders; `deafMs`: then cuts one off from its service for so long, with its connections open. */
async function leadersOn(kind: StormKind, place: string, stoppedMs: number, deafMs?: number): Promise<Storm> {
  const storm = await Storm.begin(kind, place, "leader");
  try {
    await storm.proceeds(5);
    await storm.killOneInside();
    await storm.stopOneInside(stoppedMs);
    if (deafMs !== undefined) {
      const relay = storm.relays[await storm.somebodyInside()]!;
      relay.silence();
      await pause(deafMs);
      relay.drop();
      // A session of which the server hears nothing more ends with its connection.
      relay.cut();
      await storm.proceeds(5);
    }
  } finally {
    await storm.end();
  }
  return storm;
}

test("several candidates without a lock are found to lead together", async () => {
  const storm = await Storm.begin("nothing", temporary.path, "leader");
  try {
    await storm.proceeds(20);
  } finally {
    await storm.end();
  }
  expect(storm.overlaps).not.toEqual([]);
});

// In brief, slots have the storm on files: who leads holds a lock.
describeAtFullSize("several candidates on one lock file", () => {
  test.each(["kernel", "exclusive-create"] as const)(
    "of several candidates on one lock file (%s) one leads at a time, over kills and stops",
    async (mode) => {
      (await leadersOn(mode, temporary.path, 1_500)).expectOrder(2_000);
    },
  );
});

testAtFullSize(
  "several candidates on one lease in a bucket lead one at a time, over kills, stops and lost news",
  async () => {
    // As the real service, it would let one be elected in two seconds.
    const standIn = await GcsStandIn.start({ buckets: ["locks"], limitMutations: false });
    try {
      (await leadersOn("gcs", standIn.url, 4_500, 4_500)).expectOrder(6_000);
    } finally {
      await standIn.close();
    }
  },
);

describeWithOwn("postgres", "several candidates on one PostgreSQL", () => {
  it("several candidates on one PostgreSQL lead one at a time, over kills, stops and lost news", async () => {
    const server = await startOwnPostgres();
    try {
      (await leadersOn("postgres", server.url, 2_000, 5_000)).expectOrder(3_000);
    } finally {
      await server.stop();
    }
  });
});

describeWithOwn("redis", "several candidates on one Redis", () => {
  it("several candidates on one Redis lead one at a time, over kills, stops and lost news", async () => {
    const server = await startOwnRedis();
    try {
      (await leadersOn("redis", server.url, 4_500, 4_500)).expectOrder(6_000);
    } finally {
      await server.stop();
    }
  });
});
