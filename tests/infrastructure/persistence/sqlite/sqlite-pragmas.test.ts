import { StoreUnavailableError } from "../../../../src/application/ports/payment-repository";
import { loadSqlite } from "../../../../src/infrastructure/persistence/sqlite/sqlite-driver";
import {
  setPragmas,
  type PragmaConnection,
} from "../../../../src/infrastructure/persistence/sqlite/sqlite-pragmas";
import { temporaryDirectory } from "../../../support/worlds/temporary-directory";

const folder = temporaryDirectory();
let sqlite: InstanceType<ReturnType<typeof loadSqlite>["DatabaseSync"]>;
beforeEach(() => {
  sqlite = new (loadSqlite().DatabaseSync)(`${folder.path}/holdfast.db`);
  sqlite.exec("PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = OFF");
});
afterEach(() => sqlite.close());

/** Takes all that it is told, and answers one question otherwise. */
function answering(name: string, answer: unknown): PragmaConnection {
  return {
    exec: (text) => sqlite.exec(text),
    prepare: (text) => (text === `PRAGMA ${name}` ? { get: () => answer } : sqlite.prepare(text)),
  };
}

test("a SQLite connection waits for the disk, in a log, and holds references, whatever it did before", () => {
  setPragmas(sqlite, "here");
  expect(sqlite.prepare("PRAGMA journal_mode").get()).toMatchObject({ journal_mode: "wal" });
  expect(sqlite.prepare("PRAGMA synchronous").get()).toMatchObject({ synchronous: 2 });
  expect(sqlite.prepare("PRAGMA foreign_keys").get()).toMatchObject({ foreign_keys: 1 });
});

test.each([
  ["journal_mode", "WAL", "delete"],
  ["synchronous", "FULL", 1],
  ["foreign_keys", "ON", 0],
])("a SQLite connection that does not take %s=%s keeps no payments", (name, value, instead) => {
  const open = () => setPragmas(answering(name, { [name]: instead }), "/data/holdfast.db");
  expect(open).toThrow(StoreUnavailableError);
  expect(open).toThrow(
    `/data/holdfast.db: SQLite answers ${name}=${instead} where ${value} was set, so no payment would be safe in it`,
  );
});

test("a SQLite connection that knows nothing of what it was told keeps no payments", () => {
  expect(() => setPragmas(answering("synchronous", undefined), "here")).toThrow("synchronous=undefined");
});
