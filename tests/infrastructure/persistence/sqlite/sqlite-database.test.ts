import {
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { CompiledQuery, type Kysely } from "kysely";
import { SqliteDatabase } from "../../../../src/infrastructure/persistence/sqlite/sqlite-database";
import { loadSqlite } from "../../../../src/infrastructure/persistence/sqlite/sqlite-driver";
import { makeWritableFile } from "../../../../src/infrastructure/persistence/sqlite/sqlite-file";
import { describeOnLinux } from "../../../support/servers/servers";
import { temporaryDirectory } from "../../../support/worlds/temporary-directory";

const folder = temporaryDirectory();
const place = () => join(folder.path, "numbers.db");
const raw = (text: string): CompiledQuery<{ n: bigint }> => CompiledQuery.raw(text);

describe("an open SQLite database", () => {
  let sqlite: SqliteDatabase;
  beforeEach(async () => {
    sqlite = await SqliteDatabase.open(place());
    sqlite.execute("CREATE TABLE numbers (n INTEGER PRIMARY KEY)");
  });
  afterEach(() => sqlite.close());

  const insert = (n: number): Promise<boolean> =>
    sqlite.transaction(() => sqlite.run(raw(`INSERT INTO numbers VALUES (${n})`)) === 1);

  test("writes what changes rows and returns them as a commit of its own, whichever kind of statement it is", async () => {
    const commits: number[] = [];
    sqlite.onCommit = (writes) => commits.push(writes);
    const queries = sqlite.queries as unknown as Kysely<{ numbers: { n: number } }>;
    const rows = [
      await sqlite.rows(queries.insertInto("numbers").values({ n: 1 }).returning("n").compile()),
      await sqlite.rows(queries.updateTable("numbers").set({ n: 2 }).returning("n").compile()),
      await sqlite.rows(queries.deleteFrom("numbers").returning("n").compile()),
    ];
    expect(rows).toEqual([[{ n: 1n }], [{ n: 2n }], [{ n: 2n }]]);
    expect(commits).toEqual([1, 1, 1]);
    await sqlite.rows(queries.selectFrom("numbers").select("n").compile());
    expect(commits).toHaveLength(3);
  });

  test("is tried by nobody who asks whether it takes writes, if one has just been made", async () => {
    const commits: number[] = [];
    await insert(1);
    sqlite.onCommit = (writes) => commits.push(writes);
    await sqlite.assertWritable();
    expect(commits).toEqual([]);
  });

  test("says of a write that failed for want of a place that it takes none", async () => {
    // As small as it is: there is no page left for one more row of that size.
    sqlite.execute("CREATE TABLE blobs (b BLOB)");
    const pages = Number(sqlite.all(raw("SELECT page_count AS n FROM pragma_page_count"))[0]?.n);
    sqlite.execute(`PRAGMA max_page_count = ${pages}`);
    const write = sqlite.transaction(
      () => sqlite.run(raw("INSERT INTO blobs VALUES (zeroblob(100000))")) === 1,
    );
    await expect(write).rejects.toMatchObject({ reason: "full" });
    await expect(sqlite.assertWritable()).rejects.toMatchObject({ reason: "full" });
  });

  test("takes no write any more when its file was replaced, and says so", async () => {
    renameSync(place(), join(folder.path, "elsewhere.db"));
    writeFileSync(place(), "");
    const refusal = { reason: "replaced", message: expect.stringContaining("was removed or replaced") };
    await expect(insert(1)).rejects.toMatchObject(refusal);
    await expect(sqlite.assertWritable()).rejects.toMatchObject(refusal);
  });

  test("shows nothing that the disk does not have yet, also of two rounds of writing", async () => {
    const told: string[] = [];
    const first = insert(1).then(() => told.push("written"));
    await sqlite.rows(raw("SELECT n FROM numbers"));
    told.push("read");
    await first;
    expect(told).toEqual(["written", "read"]);
  });

  test("leaves one file when it is closed, whatever was asked of it before, and closing it again does nothing", async () => {
    await insert(1);
    await sqlite.rows(raw("SELECT n FROM numbers"));
    sqlite.close();
    sqlite.close();
    expect(existsSync(`${place()}-wal`)).toBe(false);
    expect(statSync(place()).size).toBeGreaterThan(0);
  });
});

// Only there a process can look at what it has open.
describeOnLinux("what an open SQLite database has open", () => {
  /** The package keeps its own file until its statements are collected. */
  const areOpen = (name: string) =>
    readdirSync("/proc/self/fd").filter((fd) => {
      const link = join("/proc/self/fd", fd);
      return existsSync(link) && readlinkSync(link) === join(folder.path, name);
    }).length;

  test("lets go of its mark when it is closed, and of all when it could not be opened", async () => {
    writeFileSync(
      join(folder.path, "no.db"),
      "no database at all, but long enough to look like one".repeat(99),
    );
    const sqlite = await SqliteDatabase.open(place());
    expect(areOpen("numbers.db-mark")).toBe(1);
    sqlite.close();
    expect(areOpen("numbers.db-mark")).toBe(0);
    await expect(SqliteDatabase.open(join(folder.path, "no.db"))).rejects.toMatchObject({
      message: expect.stringContaining("cannot be opened as a SQLite database"),
      cause: expect.any(Error),
    });
    expect([areOpen("no.db"), areOpen("no.db-mark")]).toEqual([0, 0]);
  });
});

describe("a SQLite database that is opened", () => {
  test("waits for another process that is just switching the new file to its log", async () => {
    const other = new (loadSqlite().DatabaseSync)(place());
    other.exec("BEGIN EXCLUSIVE; CREATE TABLE something (n INTEGER)");
    // Its own wait stops this process; only between two attempts anything else happens here.
    setTimeout(() => {
      other.exec("COMMIT");
      other.close();
    }, 1);
    const sqlite = await SqliteDatabase.open(place());
    expect(sqlite.all(raw("SELECT count(*) AS n FROM something"))).toEqual([{ n: 0n }]);
    sqlite.close();
  });

  test("has to be a file", () => {
    mkdirSync(place());
    expect(() => makeWritableFile(place())).toThrow(
      `${place()} cannot keep payments: it is not a file. Name one with --store sqlite:<file>`,
    );
  });
});
