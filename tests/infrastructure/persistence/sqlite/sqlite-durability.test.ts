import { settle } from "../../../../src/domain/payment/settlement";
import { openOperationOf } from "../../../../src/domain/payment/payment";
import { restored } from "../../../../src/domain/payment/restored";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { CompiledQuery } from "kysely";
import { StoreUnavailableError } from "../../../../src/application/ports/payment-repository";
import { parseMerchantId, parsePaymentId } from "../../../../src/domain/identifiers";
import type { Migration } from "../../../../src/infrastructure/persistence/migrations/migration";
import { migrations } from "../../../../src/infrastructure/persistence/migrations/migrations";
import { SqliteDatabase } from "../../../../src/infrastructure/persistence/sqlite/sqlite-database";
import { loadSqlite } from "../../../../src/infrastructure/persistence/sqlite/sqlite-driver";
import { SqliteMigration } from "../../../../src/infrastructure/persistence/sqlite/sqlite-migration";
import { SqlitePaymentRepository } from "../../../../src/infrastructure/persistence/sqlite/sqlite-payment-repository";
import { SystemClock } from "../../../../src/infrastructure/time/system-clock";
import { joinedScript } from "../../../support/program/joined-script";
import {
  authorizedPayment,
  capturedPayment,
  capturingPayment,
  step,
  settled,
  succeeds,
} from "../../../support/worlds/payments";
import { damageTable } from "../../../support/worlds/sqlite-surgery";
import { openMigrated } from "../../../support/worlds/temporary-sqlite";

const clock = new SystemClock();
const CHILDREN_TIMEOUT_MS = 60_000;

describe("a SQLite store", () => {
  let folder: string;
  let path: string;
  const opened: SqliteDatabase[] = [];
  const children: ChildProcess[] = [];

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "holdfast-sqlite-"));
    path = join(folder, "holdfast.db");
  });
  afterEach(async () => {
    for (const sqlite of opened.splice(0)) sqlite.close();
    for (const child of children.splice(0)) if (child.exitCode === null) child.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
  });

  async function open(): Promise<SqliteDatabase> {
    const sqlite = await openMigrated(path);
    opened.push(sqlite);
    return sqlite;
  }

  function pragma(sqlite: SqliteDatabase, name: string): unknown {
    const [row] = sqlite.all(CompiledQuery.raw(`PRAGMA ${name}`)) as Record<string, unknown>[];
    return row?.[name];
  }

  function run(script: string): ChildProcess {
    const child = spawn(process.execPath, [joinedScript(join(__dirname, script)), path], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    children.push(child);
    return child;
  }

  describe("when it is opened again", () => {
    it("a SQLite store when it is opened again gives back every payment with its large amounts, instants, metadata, version and history", async () => {
      const payment = capturedPayment(
        authorizedPayment({
          amount: 999_999_999_999n,
          createdAt: new Date("1999-12-31T23:59:59.999Z"),
          metadata: { a: "1", ü: "ß" },
        }),
      );
      const first = await open();
      await new SqlitePaymentRepository(first).save(payment, "new");
      first.close();
      const again = new SqlitePaymentRepository(await open());
      expect(await again.find(payment.facts.id)).toEqual({ payment: restored(payment.facts), version: 1 });
      expect(await again.events(payment.facts.id)).toEqual(payment.newEvents);
    });

    it("a SQLite store when it is opened again writes each commit to the disk before it acknowledges it, also in a file that was WAL before", async () => {
      (await open()).close();
      const again = await open();
      expect(pragma(again, "journal_mode")).toBe("wal");
      expect(pragma(again, "synchronous")).toBe(2n);
      expect(pragma(again, "foreign_keys")).toBe(1n);
    });

    it("still writes an operation whose stored self it has not read itself", async () => {
      const capturing = capturingPayment();
      await new SqlitePaymentRepository(await open()).save(capturing, "new");
      const other = new SqlitePaymentRepository(await open());
      const declined = settle(
        restored(capturing.facts),
        openOperationOf(capturing)!.id,
        { outcome: "declined", reason: "no" },
        { ...step(), nextId: () => "00000000-0000-7000-8000-000000000001" },
      );
      await other.save(declined, 1);
      expect((await other.find(capturing.facts.id))?.payment.facts).toEqual(declined.facts);
    });
  });

  it("a SQLite store has everything in its one file when it is closed, so that the file can be copied", async () => {
    const payment = authorizedPayment();
    const first = await open();
    await new SqlitePaymentRepository(first).save(payment, "new");
    first.close();
    const copy = join(folder, "copy.db");
    await copyFile(path, copy);
    path = copy;
    expect(await new SqlitePaymentRepository(await open()).find(payment.facts.id)).not.toBeNull();
  });

  it("a SQLite store writes what changed and nothing else: the payment, one operation, the new events and what is told", async () => {
    const sqlite = await open();
    const repository = new SqlitePaymentRepository(sqlite);
    const { payment, version } = await repository.save(capturingPayment(), "new");
    const captured = settled(payment, succeeds("cap_1"));
    const run = jest.spyOn(sqlite, "run");
    await repository.save(captured, version);
    expect(run.mock.calls.map(([{ sql }]) => sql.split(" ", 3).join(" "))).toEqual([
      "BEGIN IMMEDIATE",
      'update "payments" set',
      'insert into "operations"',
      ...captured.newEvents.map(() => 'insert into "events"'),
      'insert into "public_events"',
      "COMMIT",
    ]);
  });

  it("a SQLite store lets nobody write between what a transaction reads and what it writes", async () => {
    const sqlite = await open();
    const other = new (loadSqlite().DatabaseSync)(path);
    await sqlite.transaction(() => {
      expect(() => other.exec("BEGIN IMMEDIATE")).toThrow("database is locked");
      return true;
    });
    other.close();
  });

  it("a SQLite store makes the folder it is to be in", async () => {
    path = join(folder, "not", "there", "yet", "holdfast.db");
    await expect(new SqlitePaymentRepository(await open()).ping()).resolves.toBeUndefined();
  });

  it(
    "a SQLite store has everything it acknowledged after its process was killed",
    async () => {
      const child = run("save-then-wait.ts");
      const acknowledged: string[] = [];
      for await (const line of createInterface({ input: child.stdout! })) {
        acknowledged.push(line);
        if (acknowledged.length === 25) child.kill("SIGKILL");
      }
      const repository = new SqlitePaymentRepository(await open());
      for (const id of acknowledged) {
        const found = await repository.find(parsePaymentId(id));
        expect(found?.payment.facts.status).toBe("captured");
        expect(await repository.events(parsePaymentId(id))).toHaveLength(found!.payment.facts.eventCount);
      }
      expect(acknowledged.length).toBeGreaterThanOrEqual(25);
    },
    CHILDREN_TIMEOUT_MS,
  );

  describe("when it is migrated", () => {
    const newest = migrations.at(-1)!.version;
    const second: Migration = {
      version: newest + 1,
      name: "a note",
      statements: () => ["CREATE TABLE note (n integer)"],
    };
    const broken: Migration = {
      version: newest + 2,
      name: "half",
      statements: () => ["CREATE TABLE half (n integer)", "junk"],
    };

    it("a SQLite store when it is migrated goes from nothing to the newest version, and then has nothing to do", async () => {
      const sqlite = await SqliteDatabase.open(path);
      opened.push(sqlite);
      expect(await new SqliteMigration(sqlite, clock).migrate()).toEqual({ from: 0, to: newest });
      expect(await new SqliteMigration(sqlite, clock).migrate()).toEqual({ from: newest, to: newest });
    });

    it("a SQLite store when it is migrated goes forward from where it is, and keeps what is there", async () => {
      const sqlite = await open();
      const payment = authorizedPayment();
      await new SqlitePaymentRepository(sqlite).save(payment, "new");
      const known = [...migrations, second];
      expect(await new SqliteMigration(sqlite, clock, known).migrate()).toEqual({
        from: newest,
        to: newest + 1,
      });
      expect(await new SqlitePaymentRepository(sqlite).find(payment.facts.id)).not.toBeNull();
    });

    it("a SQLite store when it is migrated stays at its version, whole, when a step fails", async () => {
      const sqlite = await open();
      const known = [...migrations, second, broken];
      await expect(new SqliteMigration(sqlite, clock, known).migrate()).rejects.toThrow("syntax error");
      expect(
        sqlite.all(CompiledQuery.raw("SELECT name FROM sqlite_schema WHERE name IN ('note', 'half')")),
      ).toEqual([]);
      expect(await new SqliteMigration(sqlite, clock).migrate()).toEqual({ from: newest, to: newest });
    });

    it("a SQLite store when it is migrated refuses a newer schema in words, and leaves it alone", async () => {
      const sqlite = await open();
      await new SqliteMigration(sqlite, clock, [...migrations, second]).migrate();
      await expect(new SqliteMigration(sqlite, clock).migrate()).rejects.toMatchObject({
        code: "schema_too_new",
        message: expect.stringMatching(
          `schema version ${newest + 1}.*versions up to ${newest}.*run the newer program`,
        ),
      });
      expect(sqlite.all(CompiledQuery.raw("SELECT n FROM note"))).toEqual([]);
    });

    it(
      "a SQLite store when it is migrated is migrated once when several processes start together",
      async () => {
        const processes = [1, 2, 3].map(() => run("migrate-once.ts"));
        const reports = processes.map(async (child) => {
          const [[line]] = await Promise.all([
            once(createInterface({ input: child.stdout! }), "line"),
            once(child, "exit"),
          ]);
          return line as string;
        });
        for (const child of processes) child.stdin!.end("go\n");
        expect((await Promise.all(reports)).sort()).toEqual([
          `0-${newest}`,
          ...Array<string>(2).fill(`${newest}-${newest}`),
        ]);
      },
      CHILDREN_TIMEOUT_MS,
    );
  });

  describe("says that it is unavailable", () => {
    it("a SQLite store says that it is unavailable where the file is no database", async () => {
      await writeFile(path, "this is not a database ".repeat(500));
      await expect(SqliteDatabase.open(path)).rejects.toMatchObject({
        code: "service_unavailable",
        message: expect.stringContaining("file is not a database"),
      });
    });

    it("a SQLite store says that it is unavailable where the path is a folder", async () => {
      await mkdir(path);
      await expect(SqliteDatabase.open(path)).rejects.toBeInstanceOf(StoreUnavailableError);
    });

    it("a SQLite store says that it is unavailable where its folder cannot be made", async () => {
      await writeFile(join(folder, "file"), "");
      await expect(SqliteDatabase.open(join(folder, "file", "holdfast.db"))).rejects.toBeInstanceOf(
        StoreUnavailableError,
      );
    });

    it("a SQLite store says that it is unavailable where another process holds the write lock, with nothing half-written", async () => {
      const repository = new SqlitePaymentRepository(await open());
      const payment = authorizedPayment();
      const other = new (loadSqlite().DatabaseSync)(path);
      other.exec("BEGIN IMMEDIATE");
      await expect(repository.save(payment, "new")).rejects.toBeInstanceOf(StoreUnavailableError);
      other.exec("COMMIT");
      other.close();
      expect(await repository.find(payment.facts.id)).toBeNull();
      await expect(repository.save(payment, "new")).resolves.toMatchObject({ version: 1 });
    });

    it("a SQLite store says that it is unavailable where the file may be read only", async () => {
      const sqlite = await open();
      const payment = authorizedPayment();
      const repository = new SqlitePaymentRepository(sqlite);
      sqlite.execute("PRAGMA query_only = ON");
      await expect(repository.save(payment, "new")).rejects.toBeInstanceOf(StoreUnavailableError);
      sqlite.execute("PRAGMA query_only = OFF");
      expect(await repository.find(payment.facts.id)).toBeNull();
    });

    it("a SQLite store says that it is unavailable where it is damaged", async () => {
      const sqlite = await open();
      const repository = new SqlitePaymentRepository(sqlite);
      for (let n = 0; n < 50; n += 1) await repository.save(capturedPayment(), "new");
      sqlite.close();
      const pages = await readFile(path);
      await writeFile(path, pages.fill(0xab, 4096));
      const again = SqliteDatabase.open(path).then(async (damaged) => {
        opened.push(damaged);
        await new SqlitePaymentRepository(damaged).save(capturedPayment(), "new");
      });
      await expect(again).rejects.toBeInstanceOf(StoreUnavailableError);
    });

    it("a SQLite store says that it is unavailable where damage is met while reading rows", async () => {
      const sqlite = await open();
      await new SqlitePaymentRepository(sqlite).save(authorizedPayment({ merchant: "acme" }), "new");
      sqlite.close();
      damageTable(path, "payments");
      const damaged = new SqlitePaymentRepository(await open());
      const page = damaged.list({ merchant: parseMerchantId("acme"), limit: 100 });
      await expect(page).rejects.toBeInstanceOf(StoreUnavailableError);
    });

    it.each([
      ["deleted", async () => rm(path)],
      ["replaced", async () => copyFile(path, `${path}.copy`).then(() => rename(`${path}.copy`, path))],
    ])("once its file was %s under it: the write would be lost with the process", async (_what, act) => {
      const sqlite = await open();
      const repository = new SqlitePaymentRepository(sqlite);
      await repository.save(authorizedPayment(), "new");
      await act();
      await expect(repository.save(authorizedPayment(), "new")).rejects.toThrow(
        /was removed or replaced while it was open/,
      );
      await expect(repository.ping()).rejects.toBeInstanceOf(StoreUnavailableError);
    });

    it("a SQLite store says that it is unavailable once it is closed", async () => {
      const sqlite = await open();
      const repository = new SqlitePaymentRepository(sqlite);
      sqlite.close();
      await expect(repository.ping()).rejects.toBeInstanceOf(StoreUnavailableError);
      await expect(repository.save(authorizedPayment(), "new")).rejects.toBeInstanceOf(StoreUnavailableError);
    });
  });
});
