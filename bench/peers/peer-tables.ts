import { Client } from "pg";

/** The tables of all peers, with every payment of the store that the gateway has authorized. */
const TABLES = `
  CREATE TABLE peer_payments (id text PRIMARY KEY, reference text NOT NULL, amount bigint NOT NULL, status text NOT NULL);
  CREATE TABLE peer_operations (id text PRIMARY KEY, payment_id text NOT NULL REFERENCES peer_payments, status text NOT NULL,
    gateway_reference text, created_at timestamptz NOT NULL DEFAULT now());
  CREATE UNIQUE INDEX one_open_or_done ON peer_operations (payment_id) WHERE status <> 'declined';
  CREATE TABLE peer_keys (key text PRIMARY KEY, payment_id text NOT NULL, operation_id text NOT NULL, status integer, body text);
  CREATE TABLE peer_events (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, payment_id text NOT NULL, type text NOT NULL,
    at timestamptz NOT NULL DEFAULT now());
  CREATE TABLE peer_short (payment_id text PRIMARY KEY, key text NOT NULL, operation_id text NOT NULL, body text);
  INSERT INTO peer_payments SELECT id, authorization_reference, authorized, 'authorized' FROM payments;
  ANALYZE peer_payments;`;

export async function makePeerTables(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(TABLES);
  } finally {
    await client.end();
  }
}
