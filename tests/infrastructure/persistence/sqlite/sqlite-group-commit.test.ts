import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CompiledQuery } from "kysely";
import { StoreUnavailableError } from "../../../../src/application/ports/payment-repository";
import { SqliteDatabase } from "../../../../src/infrastructure/persistence/sqlite/sqlite-database";
import { loadSqlite } from "../../../../src/infrastructure/persistence/sqlite/sqlite-driver";

const raw = (text: string): CompiledQuery<{ n: bigint }> => CompiledQuery.raw(text);
const ALL = raw("SELECT n FROM numbers ORDER BY n");

describe("Transactions of one SQLite connection", () => {
  let folder: string;
  let path: string;
  let sqlite: SqliteDatabase;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "holdfast-group-"));
    path = join(folder, "numbers.db");
    sqlite = await SqliteDatabase.open(path);
    sqlite.execute("CREATE TABLE numbers (n INTEGER PRIMARY KEY)");
    sqlite.execute(
      "CREATE TABLE parts (n INTEGER PRIMARY KEY REFERENCES numbers (n) DEFERRABLE INITIALLY DEFERRED)",
    );
  });

  afterEach(() => {
    sqlite.close();
    rmSync(folder, { recursive: true });
  });

  const insert = (n: number): Promise<boolean> =>
    sqlite.transaction(() => sqlite.run(raw(`INSERT INTO numbers VALUES (${n})`)) === 1);
  const stored = async (): Promise<number[]> => (await sqlite.rows(ALL)).map(({ n }) => Number(n));

  function seenByOthers(): number {
    const other = new (loadSqlite().DatabaseSync)(path);
    const rows = other.prepare("SELECT n FROM numbers").all();
    other.close();
    return rows.length;
  }

  it("wait for the disk once if they come in one round of the event loop, and again in the next", async () => {
    const run = jest.spyOn(sqlite, "run");
    const commits = (): number => run.mock.calls.filter(([{ sql }]) => sql === "COMMIT").length;
    expect(await Promise.all([insert(1), insert(2), insert(3)])).toEqual([true, true, true]);
    expect(commits()).toBe(1);
    await insert(4);
    expect(commits()).toBe(2);
    expect(await stored()).toEqual([1, 2, 3, 4]);
  });

  it("Transactions of one SQLite connection are told of nothing that others cannot see yet, and show nothing of it either", async () => {
    const told: string[] = [];
    const writing = [1, 2].map(async (n) => {
      await insert(n);
      told.push(`${n}: others see ${seenByOthers()}`);
    });
    const reading = stored().then((numbers) => told.push(`read ${numbers.join(" ")}`));
    expect(seenByOthers()).toBe(0);
    expect(told).toEqual([]);
    await Promise.all([...writing, reading]);
    expect(told.sort()).toEqual(["1: others see 2", "2: others see 2", "read 1 2"]);
  });

  it.each([
    ["the first", [7, 1, 2]],
    ["one in the middle", [1, 7, 2]],
    ["the last", [1, 2, 7]],
  ])("Transactions of one SQLite connection are undone alone: %s", async (_which, numbers) => {
    await insert(7);
    const outcomes = await Promise.allSettled(numbers.map(insert));
    expect(outcomes.map(({ status }) => status)).toEqual(
      numbers.map((n) => (n === 7 ? "rejected" : "fulfilled")),
    );
    expect(await stored()).toEqual([1, 2, 7]);
  });

  it("Transactions of one SQLite connection are undone alone when they change their mind", async () => {
    const changesMind = sqlite.transaction(() => {
      sqlite.run(raw("INSERT INTO numbers VALUES (8)"));
      return false;
    });
    expect(await Promise.all([insert(1), changesMind, insert(2)])).toEqual([true, false, true]);
    expect(await stored()).toEqual([1, 2]);
  });

  it("all fail, and are told so, when the disk does not take them", async () => {
    const danglingUntilCommit = (): Promise<boolean> =>
      sqlite.transaction(() => sqlite.run(raw("INSERT INTO parts VALUES (99)")) === 1);
    const outcomes = await Promise.allSettled([insert(1), danglingUntilCommit(), insert(2)]);
    const notConfirmed = { reason: expect.any(StoreUnavailableError) };
    expect(outcomes).toMatchObject([notConfirmed, notConfirmed, notConfirmed]);
    // A disk that did not confirm the commit may have it all the same.
    const unknown = { reason: { outcome: "unknown" } };
    expect(outcomes).toMatchObject([unknown, unknown, unknown]);
    expect(await stored()).toEqual([]);
    await insert(3);
    expect(await stored()).toEqual([3]);
  });

  it("all fail, and are told so, when SQLite gives up the transaction under one of them", async () => {
    await insert(7);
    const givesUp = (): Promise<boolean> =>
      sqlite.transaction(() => sqlite.run(raw("INSERT OR ROLLBACK INTO numbers VALUES (7)")) === 1);
    const first = insert(1);
    const outcomes = await Promise.allSettled([first, givesUp(), insert(2)]);
    expect(outcomes).toMatchObject([
      { reason: expect.any(StoreUnavailableError) },
      { reason: expect.any(StoreUnavailableError) },
      { value: true },
    ]);
    expect(await stored()).toEqual([2, 7]);
  });

  it.each([
    ["the first", [7, 1, 2]],
    ["one in the middle", [1, 7, 2]],
    ["the last", [1, 2, 7]],
  ])("are told the truth when there is no room for %s, and go on when there is", async (_which, numbers) => {
    sqlite.execute("CREATE TABLE long (n INTEGER PRIMARY KEY, text BLOB)");
    const [row] = sqlite.all(CompiledQuery.raw("PRAGMA page_count")) as unknown as [{ page_count: bigint }];
    sqlite.execute(`PRAGMA max_page_count = ${row.page_count + 4n}`);
    const write = (n: number): Promise<boolean> =>
      n === 7
        ? sqlite.transaction(() => sqlite.run(raw("INSERT INTO long VALUES (7, randomblob(100000))")) === 1)
        : insert(n);
    const outcomes = await Promise.allSettled(numbers.map(write));
    const kept = numbers.filter((_, at) => outcomes[at]?.status === "fulfilled");
    expect(kept).not.toContain(7);
    expect(await stored()).toEqual([...kept].sort());
    expect(outcomes[numbers.indexOf(7)]).toMatchObject({ reason: { reason: "full" } });
    await expect(sqlite.assertWritable()).rejects.toMatchObject({ reason: "full" });
    sqlite.execute("PRAGMA max_page_count = 1000000");
    expect(await write(7)).toBe(true);
    await insert(3);
    expect(await stored()).toContain(3);
  });

  it("Transactions of one SQLite connection that change nothing wait for no disk", async () => {
    const run = jest.spyOn(sqlite, "run");
    expect(await sqlite.transaction(() => false)).toBe(false);
    expect(run.mock.calls.map(([{ sql }]) => sql)).toEqual(["BEGIN IMMEDIATE", "ROLLBACK"]);
  });

  it("Transactions of one SQLite connection that were kept are on the disk after a close in the same round", async () => {
    const kept = insert(1);
    sqlite.close();
    await kept;
    expect(seenByOthers()).toBe(1);
  });

  it("Transactions of one SQLite connection whose work awaits its own statements are committed when it has left, not in its middle", async () => {
    const member = sqlite.enter();
    sqlite.run(raw("INSERT INTO numbers VALUES (1)"));
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(seenByOthers()).toBe(0);
    member.keep();
    await member.settled;
    expect(seenByOthers()).toBe(1);
  });

  it("Transactions of one SQLite connection keep what they could undo in memory, and not in a file", async () => {
    const [answer] = await sqlite.rows(CompiledQuery.raw("PRAGMA temp_store"));
    expect(answer).toEqual({ temp_store: 2n });
  });
});
