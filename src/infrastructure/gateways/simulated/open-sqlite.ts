import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname } from "node:path";

import type * as Embedded from "@photostructure/sqlite";

export type SqliteValue = string | bigint | number | null;

/** One connection. Integers are read as bigint. */
export interface SqliteConnection {
  exec(sql: string): void;
  run(sql: string, values: readonly SqliteValue[]): void;
  all(sql: string, values: readonly SqliteValue[]): Record<string, SqliteValue>[];
  close(): void;
}

/** How long a writer of another process may keep this one waiting. The wait blocks the event loop: keep it short. */
const BUSY_MS = 2_000;

export function openSqlite(path: string): SqliteConnection {
  mkdirSync(dirname(path), { recursive: true });
  const { DatabaseSync } = sqliteModule();
  const database = new DatabaseSync(path);
  database.exec(`PRAGMA busy_timeout=${BUSY_MS}; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL`);
  // Reopening a WAL file may silently give NORMAL.
  const level = database.prepare("PRAGMA synchronous").get() as { synchronous: number };
  if (level.synchronous !== 2) throw new Error(`${path}: synchronous is ${level.synchronous}, not FULL`);
  const compiled = new Map<string, ReturnType<typeof database.prepare>>();
  const statement = (sql: string) => {
    const known = compiled.get(sql);
    if (known !== undefined) return known;
    const fresh = database.prepare(sql);
    fresh.setReadBigInts(true);
    compiled.set(sql, fresh);
    return fresh;
  };
  return {
    exec: (sql) => {
      database.exec(sql);
    },
    run: (sql, values) => void statement(sql).run(...values),
    all: (sql, values) => statement(sql).all(...values) as Record<string, SqliteValue>[],
    close: () => {
      compiled.clear();
      database.close();
    },
  };
}

/** Node's own from 24 on, where it is stable; before that a package with the same interface. */
function sqliteModule(): Pick<typeof Embedded, "DatabaseSync"> {
  const load = createRequire(__filename);
  const own = Number(process.versions.node.split(".")[0]) >= 24;
  return load(own ? "node:sqlite" : "@photostructure/sqlite") as Pick<typeof Embedded, "DatabaseSync">;
}
