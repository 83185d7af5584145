import { Client } from "pg";
import { PostgresLockProvider } from "../../../../src/infrastructure/locking/postgres/postgres-lock-provider";
import { query } from "../../../support/servers/postgres-locks";
import { describeWithPostgres } from "../../../support/servers/servers";

jest.setTimeout(60_000);

/** Blocks of the table of holders and its index that were looked at so far, as far as sessions that have ended go. */
async function blocksLookedAt(url: string): Promise<number> {
  const [row] = await query<{ blocks: string }>(
    url,
    `SELECT heap_blks_hit + heap_blks_read + idx_blks_hit + idx_blks_read AS blocks
     FROM pg_statio_user_tables WHERE schemaname = 'holdfast_locks' AND relname = 'holds'`,
  );
  return Number(row?.blocks ?? 0);
}

describeWithPostgres("a lock under an old snapshot, which keeps what every cycle leaves behind", (server) => {
  /** What one cycle of a hot id looks at, on average: in a session of its own, whose end makes the server count it. */
  async function blocksPerCycle(url: string, cycles: number): Promise<number> {
    const before = await blocksLookedAt(url);
    const locks = new PostgresLockProvider(url);
    for (let n = 0; n < cycles; n += 1) await locks.withLock("payment:hot", async () => {});
    await locks.close();
    let after = await blocksLookedAt(url);
    for (let looks = 0; after === before && looks < 100; looks += 1) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      after = await blocksLookedAt(url);
    }
    return (after - before) / cycles;
  }

  it("costs a hot id no more than without it", async () => {
    const { url } = server;
    await blocksPerCycle(url, 10);
    const without = await blocksPerCycle(url, 200);
    const snapshot = new Client({ connectionString: url });
    await snapshot.connect();
    try {
      await snapshot.query("BEGIN ISOLATION LEVEL REPEATABLE READ");
      await snapshot.query("SELECT count(*) FROM holdfast_locks.holds");
      await blocksPerCycle(url, 3_000);
      const under = await blocksPerCycle(url, 200);
      expect(without).toBeGreaterThan(1);
      expect(under).toBeLessThan(without * 1.5);
    } finally {
      await snapshot.end();
    }
  });
});
