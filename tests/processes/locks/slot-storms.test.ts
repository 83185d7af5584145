import { setTimeout as pause } from "node:timers/promises";
import { GcsStandIn } from "../../support/gcs-stand-in/gcs-stand-in";
import { startOwnPostgres } from "../../support/servers/own-postgres";
import { replicate, startOwnRedis, tellRedis } from "../../support/servers/own-redis";
import { describeWithOwn, testAtFullSize } from "../../support/servers/servers";
import { Storm, type StormKind } from "../../support/worlds/lock-storm";
import { size } from "../../support/test-size";
import { temporaryDirectory } from "../../support/worlds/temporary-directory";

jest.setTimeout(240_000);

const temporary = temporaryDirectory();

interface Weather {
  readonly stoppedMs: number;
  /** What happens to the service, and to the ways to it, when two of them have been killed and stopped. */
  readonly trouble?: (storm: Storm) => Promise<void>;
}

async function stormOn(kind: StormKind, place: string, { stoppedMs, trouble }: Weather): Promise<Storm> {
  const storm = await Storm.begin(kind, place, "slots");
  try {
    await storm.proceeds(10);
    await storm.killOneInside();
    await storm.stopOneInside(stoppedMs);
    await storm.somebodyInside();
    await trouble?.(storm);
    await storm.proceeds(10);
  } finally {
    await storm.end();
  }
  return storm;
}

test("several processes for two slots without a lock are found to be more than two inside", async () => {
  const storm = await Storm.begin("nothing", temporary.path, "slots");
  try {
    await storm.proceeds(50);
  } finally {
    await storm.end();
  }
  expect(storm.overlaps).not.toEqual([]);
});

test.each(size(["kernel", "exclusive-create"] as const, ["kernel"] as const))(
  "of several processes for two slots in lock files (%s) two are inside at most, over kills and stops",
  async (mode) => {
    (await stormOn(mode, temporary.path, { stoppedMs: 1_500 })).expectOrder(2_000);
  },
);

testAtFullSize(
  "of several processes for two slots in a bucket two are inside at most, over kills, stops and lost news",
  async () => {
    // As the real service, it would let them in once in two seconds.
    const standIn = await GcsStandIn.start({ buckets: ["locks"], limitMutations: false });
    const deafness = async (storm: Storm): Promise<void> => {
      for (const relay of storm.relays) relay.silence();
      await pause(1_000);
      for (const relay of storm.relays) {
        relay.drop();
        relay.cut();
      }
    };
    try {
      (await stormOn("gcs", standIn.url, { stoppedMs: 4_500, trouble: deafness })).expectOrder(6_000);
    } finally {
      await standIn.close();
    }
  },
);

describeWithOwn("postgres", "several processes for two slots in PostgreSQL", () => {
  it("of several processes for two slots in PostgreSQL two are inside at most, over kills, stops, a restart and lost news", async () => {
    const server = await startOwnPostgres();
    const trouble = async (storm: Storm): Promise<void> => {
      const deaf = storm.relays[await storm.somebodyInside()]!;
      deaf.silence();
      await server.restart();
      await storm.proceeds(5);
      deaf.drop();
    };
    try {
      (await stormOn("postgres", server.url, { stoppedMs: 2_000, trouble })).expectOrder(3_000);
    } finally {
      await server.stop();
    }
  });
});

describeWithOwn("redis", "several processes for two slots in Redis", () => {
  it("of several processes for two slots in Redis two are inside at most, over kills, stops, a failover and a server that stands still", async () => {
    const [first, second] = [await startOwnRedis(), await startOwnRedis()];
    await replicate(second, first);
    const trouble = async (storm: Storm): Promise<void> => {
      // An orderly one: what was acknowledged is there. What another one forgets is said in docs/locks/redis.md.
      await tellRedis(first.url, "FAILOVER");
      while (!/role:master/.test(String(await tellRedis(second.url, "INFO")))) await pause(20);
      for (const relay of storm.relays) relay.moveTo(second.url);
      await storm.proceeds(10);
      second.pause();
      await pause(2_500);
      second.continue();
    };
    try {
      (await stormOn("redis", first.url, { stoppedMs: 4_500, trouble })).expectOrder(6_000);
    } finally {
      await Promise.all([first.stop(), second.stop()]);
    }
  });
});
