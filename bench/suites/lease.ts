// Leases in a bucket, over the stand-in for Cloud Storage: there a request costs money and tens of milliseconds, so it is
// requests that are counted, and the hand-off's time is bounded by the two intervals at which somebody looks.
import { GcsLockProvider } from "../../src/infrastructure/locking/lease/gcs/gcs-lock-provider";
import { GcsStandIn } from "../../tests/support/gcs-stand-in/gcs-stand-in";
import { compare, inMilliseconds, sideBySide } from "../measuring/side-by-side";
import type { Bench } from "../measuring/suite";

const SUITE = "lease";
const BUCKET = "holdfast-bench";
const LEASE = { waiterCheckMs: 200, waiterPollMs: 100 };

export async function lease(bench: Bench): Promise<void> {
  const standIn = await GcsStandIn.start({ buckets: [BUCKET] });
  const open = (): GcsLockProvider =>
    new GcsLockProvider(`gs://${BUCKET}/locks`, { emulatorHost: standIn.url, lease: LEASE });
  const [ours, others] = [open(), open()];
  const section = async (): Promise<void> => {};
  let n = 0;
  const cycle = (): Promise<void> => ours.withLock(`payment:${(n += 1)}`, section);

  const cycles = bench.size(50, 2);
  const requests = async (): Promise<number> => {
    const before = standIn.log.count();
    for (let i = 0; i < cycles; i += 1) await cycle();
    // A release is not waited for by its caller.
    while (ours.size > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    return (standIn.log.count() - before) / cycles;
  };

  let owner = ours.handoffLock("sandbox:1");
  let waiter = others.handoffLock("sandbox:1");
  for (const lock of [owner, waiter]) lock.onReleaseRequested(() => void lock.release());
  const handOff = async (): Promise<number> => {
    const begun = performance.now();
    await waiter.acquire();
    [owner, waiter] = [waiter, owner];
    return performance.now() - begun;
  };
  const oneRequest = async (): Promise<number> => {
    const begun = performance.now();
    await cycle();
    while (ours.size > 1) await new Promise((resolve) => setTimeout(resolve, 1));
    return (performance.now() - begun) / 2;
  };
  try {
    const counted = await sideBySide(bench.size(5, 1), { ours: requests, limit: async () => 2 });
    // Only now: an owner looks for waiters by itself, and its looks are requests.
    await owner.acquire();
    const measured = await sideBySide(bench.size(15, 1), { handOff, oneRequest });
    bench.report(
      compare({
        suite: SUITE,
        work: "requests of a cycle, `gs:`",
        against: "a create and a delete",
        atMost: 1,
        ours: counted.ours,
        theirs: counted.limit,
        show: (value) => value.toFixed(2),
      }),
    );
    bench.report(
      compare({
        suite: SUITE,
        work: `a hand-off, \`gs:\`, check ${LEASE.waiterCheckMs} ms, poll ${LEASE.waiterPollMs} ms`,
        against: "check + poll + 3 requests",
        atMost: 1,
        ours: measured.handOff,
        theirs: measured.oneRequest.map((ms) => LEASE.waiterCheckMs + LEASE.waiterPollMs + 3 * ms),
        show: inMilliseconds,
      }),
    );
  } finally {
    await owner.release();
    await ours.close();
    await others.close();
    await standIn.close();
  }
}
