import { execFile } from "node:child_process";
import {
  chmodSync,
  linkSync,
  readdirSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { SqliteGatewayLedger } from "../../../../src/infrastructure/gateways/simulated/ledgers/sqlite-gateway-ledger";
import { loadSqlite } from "../../../../src/infrastructure/persistence/sqlite/sqlite-driver";
import { makeWritableFile } from "../../../../src/infrastructure/persistence/sqlite/sqlite-file";
import { joinedScript } from "../../../support/program/joined-script";
import { openMigrated } from "../../../support/worlds/temporary-sqlite";
import { temporaryDirectory } from "../../../support/worlds/temporary-directory";

const folder = temporaryDirectory();
const place = () => join(folder.path, "holdfast.db");
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

/** Whoever runs the tests may be root, whom no mode stops: the child is not. */
async function openAsStranger(path: string): Promise<unknown> {
  const child = [joinedScript(join(__dirname, "open-as-nobody.ts")), path];
  const { stdout } = await promisify(execFile)(process.execPath, child);
  return JSON.parse(stdout);
}

/** With nothing beside it: it was made without a prepared statement, which would keep the log open. */
function closedDatabase(): string {
  const connection = new (loadSqlite().DatabaseSync)(place());
  connection.exec("PRAGMA journal_mode = WAL; CREATE TABLE something (n integer)");
  connection.close();
  return place();
}

describe("a SQLite file that is made", () => {
  it("a SQLite file that is made is its user's alone, and so is what SQLite puts beside it", async () => {
    const sqlite = await openMigrated(place());
    try {
      const names = ["holdfast.db", "holdfast.db-mark", "holdfast.db-shm", "holdfast.db-wal"];
      expect(readdirSync(folder.path).sort()).toEqual(names);
      expect(names.map((name) => modeOf(join(folder.path, name)))).toEqual(["600", "600", "600", "600"]);
    } finally {
      sqlite.close();
    }
  });

  it("a SQLite file that is made is its user's alone where a link to it was there first", async () => {
    const target = join(folder.path, "elsewhere.db");
    symlinkSync(target, place());
    (await openMigrated(place())).close();
    expect(modeOf(target)).toBe("600");
  });

  it("a SQLite file that is made is its user's alone as the simulated gateway's memory, too", async () => {
    (await SqliteGatewayLedger.open(place())).close();
    expect(modeOf(place())).toBe("600");
  });

  it("a SQLite file that is made keeps the mode that somebody gave it", async () => {
    writeFileSync(place(), "");
    chmodSync(place(), 0o640);
    (await openMigrated(place())).close();
    expect(modeOf(place())).toBe("640");
  });
});

test("a SQLite file with two names is refused, with the command that finds them", () => {
  const path = closedDatabase();
  linkSync(path, join(folder.path, "other.db"));
  expect(() => makeWritableFile(path)).toThrow(
    `the file has 2 names (hard links), and SQLite would keep a log of its own beside each. Find them with find -samefile ${realpathSync(path)}`,
  );
});

describe("a SQLite file that may not be written", () => {
  const refusalOf = (needed: string) => ({
    code: "service_unavailable",
    message:
      `${place()} cannot keep payments: ${needed} may not be written (EACCES). Make it writable for the user that ` +
      "runs this, or choose another place with --store sqlite:<file>",
  });

  /** As strangers find them; everything else is theirs to write. */
  function setModes(modes: { readonly folder: number; readonly file: number }): void {
    chmodSync(folder.path, modes.folder);
    chmodSync(place(), modes.file);
  }

  it("a SQLite file that may not be written is opened where nothing forbids it", async () => {
    closedDatabase();
    setModes({ folder: 0o777, file: 0o666 });
    expect(await openAsStranger(place())).toEqual({ opened: true });
  });

  it("a SQLite file that may not be written is refused before anything is left beside it", async () => {
    closedDatabase();
    setModes({ folder: 0o777, file: 0o444 });
    expect(await openAsStranger(place())).toEqual(refusalOf(place()));
    expect(readdirSync(folder.path)).toEqual(["holdfast.db"]);
  });

  it("a SQLite file that may not be written is refused where SQLite could not make its log", async () => {
    closedDatabase();
    setModes({ folder: 0o555, file: 0o666 });
    expect(await openAsStranger(place())).toEqual(refusalOf(folder.path));
  });

  it.each(["-wal", "-shm"])("is refused where its %s was left by another user", async (suffix) => {
    closedDatabase();
    writeFileSync(place() + suffix, "", { mode: 0o444 });
    chmodSync(place() + suffix, 0o444);
    setModes({ folder: 0o777, file: 0o666 });
    expect(await openAsStranger(place())).toEqual(refusalOf(place() + suffix));
  });

  it("a SQLite file that may not be written is named where the path is a link to it", async () => {
    const target = closedDatabase();
    setModes({ folder: 0o777, file: 0o444 });
    const link = join(folder.path, "link.db");
    symlinkSync(target, link);
    expect(await openAsStranger(link)).toMatchObject({
      message: expect.stringContaining(`${link} cannot keep payments: ${target} may not`),
    });
  });
});
