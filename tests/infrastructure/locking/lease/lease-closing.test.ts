import type { LeaseLockProvider } from "../../../../src/infrastructure/locking/lease/lease-lock-provider";
import { GcsLockProvider } from "../../../../src/infrastructure/locking/lease/gcs/gcs-lock-provider";
import { RedisLockProvider } from "../../../../src/infrastructure/locking/lease/redis/redis-lock-provider";
import type { LockEventType } from "../../../../src/application/ports/lock-observer";
import { fate, LeaseWorld } from "../../../support/worlds/lease-world";
import { Gate } from "../../../support/fakes/gate";
import { GcsStandIn } from "../../../support/gcs-stand-in/gcs-stand-in";
import { describeWithRedis } from "../../../support/servers/servers";
import { tcpRelayTo, type TcpRelay } from "../../../support/servers/tcp-relay";

jest.setTimeout(60_000);

const CLOSE_MS = 1_000;
/** For a busy machine. */
const LATE_MS = 1_000;
const LEASE = { closeMs: CLOSE_MS };

/** Sockets of this process that lead to the relay. */
function openSockets(relay: TcpRelay): number {
  const port = Number(new URL(relay.url).port);
  const handles = (process as unknown as { _getActiveHandles(): object[] })._getActiveHandles();
  return handles.filter((handle) => (handle as { remotePort?: number }).remotePort === port).length;
}

/** Everything that can be under way when the store falls silent: a section inside, a release, an attempt, a hand-off. */
async function closesInTime(locks: LeaseLockProvider, relay: TcpRelay): Promise<void> {
  const [inside, leave] = [new Gate(), new Gate()];
  const held = locks.withLock("inside", () => {
    inside.open();
    return leave.passed;
  });
  const handoff = locks.handoffLock("hand-off");
  await handoff.acquire();
  await inside.passed;
  relay.silence();
  const attempt = locks.withLock("attempt", () => Promise.reject(new Error("it began")), {
    timeout: "infinite",
  });
  const pending = locks.handoffLock("pending").acquire({ timeout: "infinite" });
  void handoff.release();

  const beganMs = performance.now();
  const closed = locks.close();
  await expect(pending).rejects.toMatchObject({ code: "lock_unavailable" });
  await expect(attempt).rejects.toMatchObject({ code: "lock_unavailable" });
  expect(performance.now() - beganMs).toBeLessThan(LATE_MS);
  await closed;
  expect(performance.now() - beganMs).toBeLessThan(CLOSE_MS + LATE_MS);
  leave.open();
  await held;
  await handoff.release();
  expect(performance.now() - beganMs).toBeLessThan(CLOSE_MS + 2_000 + LATE_MS);
  while (locks.size > 0) await new Promise((resolve) => setTimeout(resolve, 10));
}

describe("closing leases in memory", () => {
  test("closing leases in memory takes no longer than its bound when the store never answers", async () => {
    const world = new LeaseWorld();
    const a = world.process("a");
    const lock = a.locks.handoffLock("a");
    await lock.acquire();
    for (const request of ["write", "read"] as const)
      for (let index = 0; index < 100; index += 1) a.store.next(request, fate.lost);
    void lock.release();
    let isClosed = false;
    void a.locks.close().then(() => (isClosed = true));
    await world.clock.advance(5_000);
    expect(isClosed).toBe(true);
    expect(world.clock.pendingTimers).toBe(0);
  });
});

test("a section's lease tells its observer of each renewal", async () => {
  const world = new LeaseWorld();
  const a = world.process("a");
  const types: LockEventType[] = [];
  const occupant = world.occupy(a, "a", { observer: { notify: ({ type }) => void types.push(type) } });
  const { leave } = await occupant;
  await world.clock.advance(20_100);
  await leave();
  expect(types).toEqual(["acquired", "renewed", "renewed", "released"]);
  await world.close();
});

describeWithRedis("closing leases in a Redis that falls silent", (server) => {
  test("closing leases in a Redis that falls silent takes no longer than its bound and leaves no socket", async () => {
    const relay = await tcpRelayTo(server.url);
    const { keyPrefix } = server;
    try {
      await closesInTime(new RedisLockProvider(relay.url, { keyPrefix, lease: LEASE }), relay);
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(openSockets(relay)).toBe(0);
    } finally {
      await relay.close();
    }
  });
});

describe("closing leases in a bucket that falls silent", () => {
  test("closing leases in a bucket that falls silent takes no longer than its bound", async () => {
    const standIn = await GcsStandIn.start({ buckets: ["locks"] });
    const relay = await tcpRelayTo(standIn.url);
    try {
      const emulatorHost = relay.url.replace(/\/$/, "");
      await closesInTime(new GcsLockProvider("gs://locks/a", { emulatorHost, lease: LEASE }), relay);
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(openSockets(relay)).toBe(0);
    } finally {
      await relay.close();
      await standIn.close();
    }
  });
});
