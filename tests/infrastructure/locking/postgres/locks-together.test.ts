import { PostgresLockBackend } from "../../../../src/infrastructure/locking/postgres/postgres-lock-backend";
import type { Attempt, Tenure } from "../../../../src/infrastructure/locking/lock-backend";
import { query } from "../../../support/servers/postgres-locks";
import { relayTo } from "../../../support/servers/postgres-relay";
import { describeWithPostgres } from "../../../support/servers/servers";

jest.setTimeout(30_000);

const SCHEMA = "holdfast_locks";
const IDS = ["payment:1", "payment:2", "payment:3"];

describeWithPostgres("locks that are asked for in one round of the event loop", (server) => {
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  function backend(url = server.url): PostgresLockBackend {
    const made = new PostgresLockBackend(url);
    closing.push(() => made.close());
    return made;
  }

  const attemptAll = (from: PostgresLockBackend, ids = IDS): Promise<Attempt[]> =>
    Promise.all(ids.map((id) => from.attempt(id, { mayWait: true })));
  const kinds = (attempts: readonly Attempt[]): string[] => attempts.map(({ kind }) => kind);

  function tenureOf(attempt: Attempt | undefined): Tenure {
    if (attempt?.kind !== "acquired") throw new Error(`the attempt is ${String(attempt?.kind)}`);
    return attempt.tenure;
  }

  it("locks that are asked for together are taken, and given back, in one round trip each", async () => {
    const relay = await relayTo(server.url);
    closing.push(() => relay.close());
    const one = backend(relay.url);
    await one.probe();
    const before = relay.roundTrips;
    const taken = await attemptAll(one);
    expect(kinds(taken)).toEqual(["acquired", "acquired", "acquired"]);
    expect(relay.roundTrips - before).toBe(1);
    expect(new Set(taken.map((attempt) => tenureOf(attempt).fencingToken)).size).toBe(3);
    const other = backend();
    expect(kinds(await attemptAll(other))).toEqual(["held", "held", "held"]);
    const beforeRelease = relay.roundTrips;
    await Promise.all(taken.map((attempt) => tenureOf(attempt).release()));
    expect(relay.roundTrips - beforeRelease).toBe(1);
    expect(await query(server.url, `SELECT key FROM ${SCHEMA}.holds`)).toEqual([]);
    expect(kinds(await attemptAll(other))).toEqual(["acquired", "acquired", "acquired"]);
  });

  it("a lock that another process holds is refused with its holder, and its neighbours are taken", async () => {
    const [one, other] = [backend(), backend()];
    const held = tenureOf(await one.attempt("payment:2", { mayWait: true, purpose: "capture" }));
    const attempts = await attemptAll(other);
    expect(kinds(attempts)).toEqual(["acquired", "held", "acquired"]);
    expect(attempts[1]).toMatchObject({ holder: { pid: process.pid, purpose: "capture" } });
    await held.release();
  });

  it("each of several waiting processes is told when locks are given back together, with fences that grow", async () => {
    const [one, other] = [backend(), backend()];
    const first = await attemptAll(one);
    const woken = IDS.map((id) => new Promise<void>((resolve) => void other.onReleased(id, resolve)));
    expect(kinds(await attemptAll(other))).toEqual(["held", "held", "held"]);
    await Promise.all(first.map((attempt) => tenureOf(attempt).release()));
    await Promise.all(woken);
    const second = await attemptAll(other);
    for (const [i, attempt] of second.entries())
      expect(tenureOf(attempt).fencingToken).toBeGreaterThan(tenureOf(first[i]).fencingToken);
  });

  it("an attempt that fails leaves no lock over, and its neighbours have theirs", async () => {
    const [one, other] = [backend(), backend()];
    await one.probe();
    await query(
      server.url,
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
       CREATE TRIGGER refuse BEFORE INSERT ON ${SCHEMA}.holds FOR EACH ROW
         WHEN (NEW.resource_id LIKE '%payment:2%') EXECUTE FUNCTION refuse()`,
    );
    const results = await Promise.allSettled(IDS.map((id) => one.attempt(id, { mayWait: true })));
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    await query(server.url, `DROP TRIGGER refuse ON ${SCHEMA}.holds`);
    expect(kinds(await attemptAll(other))).toEqual(["held", "acquired", "held"]);
    // Taken once by their session: given back once, they are free.
    for (const result of results) if (result.status === "fulfilled") await tenureOf(result.value).release();
    expect(kinds(await attemptAll(other, ["payment:1", "payment:3"]))).toEqual(["acquired", "acquired"]);
  });
});
