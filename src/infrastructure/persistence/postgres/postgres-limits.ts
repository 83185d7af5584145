import { budgets } from "../../../application/time-budgets";

/** What is asked of the database, by how long its answer is worth waiting for. */
export type StatementClass = "save" | "read" | "list";

/** By the client's own clock, for everything: a connection, the answer, and a second try where one is made. */
export const statementLimitsMs: Readonly<Record<StatementClass, number>> = {
  save: budgets.savesMs,
  read: budgets.readMs,
  list: budgets.listMs,
};

/** To make a connection: by name, TCP, TLS and password. Whoever waits for it gives up earlier, by their own limit. */
export const CONNECT_MS = 3_000;
/** To set a connection up once it is made, and for each statement of a session but for those of a migration. */
export const SESSION_ANSWER_MS = 5_000;
/** To end a connection as one should. After that it is cut. */
export const GOODBYE_MS = 1_000;

/** A statement of a migration may rewrite the largest table. */
export const MIGRATION_STATEMENT_MS = 3_600_000;
/** Instances that start together wait for the one that migrates; and what it did has to reach the disk. */
export const MIGRATION_WAIT_MS = 60_000;
/** How much longer an answer may take than the statement, so that it is the server who ends it, and says so. */
export const ON_THE_WAY_MS = 1_000;

/** Settings of PostgreSQL, by their names there. Times are in milliseconds. */
export type ServerLimits = Readonly<Record<string, string>>;

/** Of a connection that is used now and then: nothing of it lives on in the server when its client is gone. */
export const sessionLimits: ServerLimits = {
  statement_timeout: "3000",
  idle_in_transaction_session_timeout: "5000",
  client_connection_check_interval: "1000",
  // In seconds; the last one is in milliseconds again.
  tcp_keepalives_idle: "5",
  tcp_keepalives_interval: "2",
  tcp_keepalives_count: "3",
  tcp_user_timeout: "11000",
};

/**
 * Of a connection that payments are read and written over. Its statements are transactions: one whose end was lost on
 * its way must not keep a payment's row. Who waits for such a row is told before its client gives up, twice.
 */
export const serverLimits: ServerLimits = {
  ...sessionLimits,
  lock_timeout: "400",
  transaction_timeout: "5000",
  // Plans are made while the tables are small, and kept while they grow: they have to go by the index.
  enable_seqscan: "off",
  jit: "off",
};

/** Of a migration: what it has locked must not stay so when it is gone. */
export const migrationLimits: ServerLimits = {
  ...sessionLimits,
  statement_timeout: String(MIGRATION_STATEMENT_MS),
  idle_in_transaction_session_timeout: "30000",
  lock_timeout: String(MIGRATION_WAIT_MS),
};
