import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CompiledQuery } from "kysely";
import type { LostLog } from "../../../../src/infrastructure/persistence/sqlite/sqlite-commit-mark";
import { SqliteDatabase } from "../../../../src/infrastructure/persistence/sqlite/sqlite-database";
import { loadSqlite } from "../../../../src/infrastructure/persistence/sqlite/sqlite-driver";

const raw = (text: string): CompiledQuery<{ n: bigint }> => CompiledQuery.raw(text);

describe("a SQLite file whose process was killed", () => {
  let folder: string;
  const opened: SqliteDatabase[] = [];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "holdfast-lost-log-"));
  });
  afterEach(() => {
    for (const sqlite of opened.splice(0)) sqlite.close();
    rmSync(folder, { recursive: true });
  });

  const file = (name = "crashed"): string => join(folder, name, "numbers.db");

  async function open(path: string, acceptLostLog = false): Promise<SqliteDatabase> {
    const sqlite = await SqliteDatabase.open(path, { acceptLostLog });
    opened.push(sqlite);
    return sqlite;
  }

  async function insert(sqlite: SqliteDatabase, count: number): Promise<void> {
    for (let n = 0; n < count; n += 1)
      await sqlite.transaction(() => sqlite.run(raw("INSERT INTO numbers DEFAULT VALUES")) === 1);
  }

  const countOf = async (sqlite: SqliteDatabase): Promise<number> =>
    Number((await sqlite.rows(raw("SELECT count(*) AS n FROM numbers")))[0]?.n);

  /** As a kill leaves it: the files as they are, with nobody who closes them. */
  async function crash(count: number): Promise<SqliteDatabase> {
    const sqlite = await open(file("living"));
    sqlite.execute("CREATE TABLE IF NOT EXISTS numbers (n INTEGER PRIMARY KEY)");
    sqlite.checkpoint();
    await insert(sqlite, count);
    mkdirSync(join(folder, "crashed"), { recursive: true });
    for (const suffix of ["", "-wal", "-shm", "-mark"])
      copyFileSync(file("living") + suffix, file("crashed") + suffix);
    return sqlite;
  }

  const lostOf = async (path = file()): Promise<LostLog | null> => (await open(path)).lostLog;
  const lost = (commits: number | null): LostLog => ({ path: file(), commits, isAccepted: false });

  it("a SQLite file whose process was killed has lost nothing if its log is there", async () => {
    await crash(30);
    const again = await open(file());
    expect(again.lostLog).toBeNull();
    expect(await countOf(again)).toBe(30);
    await insert(again, 1);
  });

  it("a SQLite file whose process was killed has lost nothing if it was killed before it wrote", async () => {
    await crash(0);
    expect(await lostOf()).toBeNull();
  });

  it("a SQLite file whose process was killed has lost nothing if it was killed again and again", async () => {
    for (let round = 1; round <= 3; round += 1) {
      await crash(10);
      opened.splice(0).forEach((sqlite) => sqlite.close());
      const again = await open(file());
      expect(again.lostLog).toBeNull();
      expect(await countOf(again)).toBe(10 * round);
      again.close();
    }
  });

  it.each([
    ["missing", () => rmSync(`${file()}-wal`), 30],
    ["missing, with its index", () => ["-wal", "-shm"].forEach((suffix) => rmSync(file() + suffix)), 30],
    ["empty", () => truncateSync(`${file()}-wal`), 30],
    ["cut short", () => truncateSync(`${file()}-wal`, 4_152 * 10), null],
    [
      "cut short by its last page",
      () => truncateSync(`${file()}-wal`, readFileSync(`${file()}-wal`).length - 4_120),
      1,
    ],
    [
      "damaged in its middle",
      () => {
        const pages = readFileSync(`${file()}-wal`);
        writeFileSync(`${file()}-wal`, pages.fill(0xab, pages.length / 2, pages.length / 2 + 16));
      },
      null,
    ],
  ])("tells how much it has lost if its log is %s", async (_how, harm, commits) => {
    await crash(30);
    harm();
    const again = await open(file());
    const missing = 30 - (await countOf(again));
    expect(missing).toBeGreaterThan(0);
    expect(again.lostLog).toEqual(lost(commits ?? missing));
    expect(again.lostLog?.commits).toBe(missing);
  });

  it("a SQLite file whose process was killed has lost nobody knows what if its mark is missing as well", async () => {
    await crash(30);
    for (const suffix of ["-wal", "-shm", "-mark"]) rmSync(file() + suffix);
    expect(await lostOf()).toEqual(lost(null));
  });

  it.each([
    ["missing", () => rmSync(`${file()}-mark`)],
    [
      "of another file",
      () => writeFileSync(`${file()}-mark`, readFileSync(`${file()}-mark`, "utf8").replace(/^./, "x")),
    ],
    ["empty", () => truncateSync(`${file()}-mark`)],
  ])("is not taken for one that has lost its log if its mark is %s", async (_how, harm) => {
    await crash(30);
    harm();
    const again = await open(file());
    expect(again.lostLog).toBeNull();
    await insert(again, 1);
    expect(await countOf(again)).toBe(31);
  });

  it("a SQLite file whose process was killed has lost nothing if somebody else has brought the log into the file meanwhile", async () => {
    await crash(30);
    const other = new (loadSqlite().DatabaseSync)(file());
    other.exec("SELECT count(*) FROM numbers; PRAGMA wal_checkpoint(TRUNCATE)");
    other.close();
    for (const suffix of ["-wal", "-shm"]) rmSync(file() + suffix, { force: true });
    expect(await lostOf()).toBeNull();
  });

  it("a SQLite file whose process was killed shows what is there, writes nothing, and has everything when its log is put back", async () => {
    await crash(30);
    const log = readFileSync(`${file()}-wal`);
    rmSync(`${file()}-wal`);
    for (let opening = 1; opening <= 3; opening += 1) {
      const sqlite = await open(file());
      expect(sqlite.lostLog).toEqual(lost(30));
      expect(await countOf(sqlite)).toBe(0);
      await expect(insert(sqlite, 1)).rejects.toMatchObject({ reason: "log_lost" });
      await expect(
        sqlite.rows(sqlite.queries.insertInto("api_keys").defaultValues().compile()),
      ).rejects.toMatchObject({
        reason: "log_lost",
      });
      await expect(sqlite.assertWritable()).rejects.toMatchObject({ reason: "log_lost" });
      sqlite.close();
    }
    // In a folder of its own: this process has the old log still open.
    mkdirSync(join(folder, "whole"));
    for (const suffix of ["", "-mark"]) copyFileSync(file() + suffix, file("whole") + suffix);
    writeFileSync(`${file("whole")}-wal`, log);
    const whole = await open(file("whole"));
    expect(whole.lostLog).toBeNull();
    expect(await countOf(whole)).toBe(30);
  });

  it.each([
    ["with its mark", ["-wal"]],
    ["without", ["-wal", "-mark"]],
  ])("goes on once that was accepted, and counts from there: %s", async (_which, missing) => {
    await crash(30);
    for (const suffix of missing) rmSync(file() + suffix);
    const accepted = await open(file(), true);
    expect(accepted.lostLog).toMatchObject({ isAccepted: true });
    await insert(accepted, 5);
    // Killed once more: it has lost nothing since.
    mkdirSync(join(folder, "later"));
    for (const suffix of ["", "-wal", "-mark"]) copyFileSync(file() + suffix, file("later") + suffix);
    const later = await open(file("later"));
    expect(later.lostLog).toBeNull();
    expect(await countOf(later)).toBe(5);
    accepted.close();
    expect(await lostOf()).toBeNull();
    rmSync(`${file("later")}-wal`, { force: true });
  });

  it("a SQLite file whose process was killed is not compared with anything while another process has it open and writes", async () => {
    const living = await crash(10);
    for (let look = 0; look < 5; look += 1) {
      const writing = insert(living, 5);
      const beside = await open(file("living"));
      expect(beside.lostLog).toBeNull();
      await writing;
      await insert(beside, 1);
      beside.close();
    }
    expect(await countOf(living)).toBe(40);
  });

  describe("or of which there is a copy", () => {
    const copy = (): string => join(folder, "copy.db");

    it("made by VACUUM INTO from a running server is whole, also in the place of the original", async () => {
      const living = await crash(10);
      living.execute(`VACUUM INTO '${copy()}'`);
      await insert(living, 10);
      living.close();
      expect(await countOf(await open(copy()))).toBe(10);
      opened.pop()?.close();
      copyFileSync(copy(), file("living"));
      const restored = await open(file("living"));
      expect(restored.lostLog).toBeNull();
      await insert(restored, 1);
      expect(await countOf(restored)).toBe(11);
    });

    it("made of the one file of a stopped server is whole", async () => {
      const living = await crash(10);
      living.close();
      copyFileSync(file("living"), copy());
      const copied = await open(copy());
      expect(copied.lostLog).toBeNull();
      expect(await countOf(copied)).toBe(10);
    });

    it("made of the one file of a running server has lost its log", async () => {
      await crash(10);
      copyFileSync(file("living"), copy());
      expect(await lostOf(copy())).toMatchObject({ commits: null, isAccepted: false });
    });
  });

  it("a SQLite file whose process was killed was made before commits were counted, and is counted from now on", async () => {
    mkdirSync(join(folder, "crashed"));
    const old = new (loadSqlite().DatabaseSync)(file());
    old.exec("PRAGMA journal_mode = WAL; CREATE TABLE numbers (n INTEGER PRIMARY KEY)");
    old.close();
    const sqlite = await open(file());
    expect(sqlite.lostLog).toBeNull();
    await insert(sqlite, 1);
    expect(existsSync(`${file()}-mark`)).toBe(true);
  });
});
