import { setTimeout as pause } from "node:timers/promises";
import { GcsStandIn } from "../../support/gcs-stand-in/gcs-stand-in";
import { Storm } from "../../support/worlds/lock-storm";
import { startOwnPostgres } from "../../support/servers/own-postgres";
import { replicate, startOwnRedis, tellRedis, type OwnServer } from "../../support/servers/own-redis";
import { describeAtFullSize, describeWithOwn, describeWithPython } from "../../support/servers/servers";
import { temporaryDirectory } from "../../support/worlds/temporary-directory";
import { size } from "../../support/test-size";

const ROUNDS = size(2, 1);

jest.setTimeout(ROUNDS * 240_000);

const temporary = temporaryDirectory();

test("several processes without a lock are found to be inside together", async () => {
  const storm = await Storm.begin("nothing", temporary.path);
  try {
    await storm.proceeds(50);
  } finally {
    await storm.end();
  }
  expect(storm.overlaps).not.toEqual([]);
});

/** In brief, each kind of lock on files has a storm: see slots. On a bucket, the peer's test kills. */
const FILE_LOCKS = size(["kernel", "exclusive-create"] as const, ["exclusive-create"] as const);

describe.each(FILE_LOCKS)("several processes on one lock file, %s", (mode) => {
  it("are inside one at a time, over kills and stops", async () => {
    const storm = await Storm.begin(mode, temporary.path);
    try {
      await storm.proceeds(10);
      await storm.killOneInside();
      await storm.stopOneInside(1_500);
    } finally {
      await storm.end();
    }
    storm.expectOrder(2_000);
  });
});

/** `peers`: how many of the five are the peer in Python. */
async function stormOnBucket(peers: number): Promise<Storm> {
  // As the real service, it would let them in once in two seconds.
  const standIn = await GcsStandIn.start({ buckets: ["locks"], limitMutations: false });
  const storm = await Storm.begin("gcs", standIn.url, "section", peers);
  try {
    await storm.proceeds(10);
    await storm.killOneInside();
    await storm.stopOneInside(4_500);
    await storm.somebodyInside();
    for (const relay of storm.relays) relay.silence();
    await pause(1_000);
    for (const relay of storm.relays) {
      relay.drop();
      relay.cut();
    }
    await storm.proceeds(5);
    await storm.bothProceed();
  } finally {
    await storm.end();
    await standIn.close();
  }
  return storm;
}

describeAtFullSize("several processes on one lease in a bucket", () => {
  it("are inside one at a time, over kills, stops, a service that is gone and lost news", async () => {
    (await stormOnBucket(0)).expectOrder(6_000);
  });
});

if (size(true, false))
  describeWithPython("several processes on one lease in a bucket, two of them the peer in Python", () => {
    it("are inside one at a time, ours and the peers, over kills, stops, a service that is gone and lost news", async () => {
      (await stormOnBucket(2)).expectOrder(6_000);
    });
  });

describeWithOwn("postgres", "several processes on one PostgreSQL lock", () => {
  it("are inside one at a time, over kills, stops, restarts and lost news", async () => {
    const server = await startOwnPostgres();
    const storm = await Storm.begin("postgres", server.url);
    try {
      await storm.proceeds(10);
      for (let round = 0; round < ROUNDS; round += 1) {
        await storm.killOneInside();
        await storm.stopOneInside(2_000);
        const deaf = storm.relays[await storm.somebodyInside()]!;
        deaf.silence();
        await server.restart();
        await storm.proceeds(5);
        deaf.drop();
        await storm.proceeds(5);
      }
    } finally {
      await storm.end();
      await server.stop();
    }
    storm.expectOrder(3_000);
  });
});

describeWithOwn("redis", "several processes on one Redis lock", () => {
  it("are inside one at a time, over kills, stops, failovers and a server that stands still", async () => {
    const servers = [await startOwnRedis(), await startOwnRedis()] as const;
    await replicate(servers[1], servers[0]);
    const storm = await Storm.begin("redis", servers[0].url);
    const roles = (round: number): { readonly from: OwnServer; readonly to: OwnServer } =>
      round % 2 === 0 ? { from: servers[0], to: servers[1] } : { from: servers[1], to: servers[0] };
    try {
      await storm.proceeds(10);
      for (let round = 0; round < ROUNDS; round += 1) {
        await storm.killOneInside();
        await storm.stopOneInside(4_500);
        const { from, to } = roles(round);
        await storm.somebodyInside();
        // An orderly one: what was acknowledged is there. What another one forgets is said in docs/locks/redis.md.
        await tellRedis(from.url, "FAILOVER");
        while (!/role:master/.test(String(await tellRedis(to.url, "INFO")))) await pause(20);
        for (const relay of storm.relays) relay.moveTo(to.url);
        await storm.proceeds(10);
        if (ROUNDS === 1) continue;
        to.pause();
        await pause(2_500);
        to.continue();
        await storm.proceeds(5);
      }
    } finally {
      await storm.end();
      await Promise.all(servers.map((server) => server.stop()));
    }
    storm.expectOrder(5_000 + 1_000);
  });
});
