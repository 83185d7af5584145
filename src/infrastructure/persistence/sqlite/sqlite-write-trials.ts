import { CompiledQuery } from "kysely";

/** Made by the first trial: a file that nobody asks has no such table. */
export const TRIAL_TABLE =
  "CREATE TABLE IF NOT EXISTS holdfast_write_trials (id INTEGER PRIMARY KEY, written INTEGER NOT NULL, room BLOB) STRICT";
export const SMALL_TRIAL = CompiledQuery.raw(
  `INSERT INTO holdfast_write_trials VALUES (1, 1, NULL) ON CONFLICT (id) DO UPDATE SET written = written + 1`,
);
/** Several times what a payment writes. Random: SQLite does not write again what is there already. */
export const LONG_TRIAL = CompiledQuery.raw(
  `INSERT INTO holdfast_write_trials VALUES (2, 1, randomblob(65536))
    ON CONFLICT (id) DO UPDATE SET written = written + 1, room = excluded.room`,
);
