// Written with care: the key and an intent are committed before the gateway is called, outside of any transaction, with a
// key of the intent's own; a repetition that finds an intent without an answer sends the same one again.
import { randomUUID } from "node:crypto";
import type { Pool, PoolClient } from "pg";
import { captureAtGateway } from "./gateway-call";
import {
  busy,
  captured,
  notFound,
  type CaptureReply,
  type CaptureRequest,
  type Peer,
  type PeerPayment,
} from "./peer";

interface Begun {
  readonly payment: PeerPayment;
  readonly operationId: string;
}

export const careful: Peer = (pool, gateway) => async (request) => {
  const begun = await inTransaction(pool, (client) => begin(client, request));
  if ("status" in begun) return begun;
  const reference = await captureAtGateway(gateway, begun.payment, begun.operationId);
  if (reference === null) return { status: 202, body: '{"capture":{"status":"unknown"}}' };
  const body = captured(begun.operationId);
  await inTransaction(pool, (client) => settle(client, request, begun, { reference, body }));
  return { status: 201, body };
};

async function begin(client: PoolClient, { key, paymentId }: CaptureRequest): Promise<Begun | CaptureReply> {
  const operationId = randomUUID();
  const inserted = await client.query({
    name: "key",
    text: "INSERT INTO peer_keys (key, payment_id, operation_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING",
    values: [key, paymentId, operationId],
  });
  const { rows } = await client.query<PeerPayment>({
    name: "payment",
    text: "SELECT * FROM peer_payments WHERE id = $1 FOR UPDATE",
    values: [paymentId],
  });
  const [payment] = rows;
  if (payment === undefined) return notFound;
  if (inserted.rowCount === 0) return repeated(client, key, payment);
  if (payment.status !== "authorized") return busy;
  await client.query({
    name: "intent",
    text: "INSERT INTO peer_operations (id, payment_id, status) VALUES ($1, $2, 'started')",
    values: [operationId, paymentId],
  });
  await client.query({
    name: "capturing",
    text: "UPDATE peer_payments SET status = 'capturing' WHERE id = $1",
    values: [paymentId],
  });
  return { payment, operationId };
}

async function repeated(
  client: PoolClient,
  key: string,
  payment: PeerPayment,
): Promise<Begun | CaptureReply> {
  const { rows } = await client.query<{ operation_id: string; status: number | null; body: string | null }>(
    "SELECT operation_id, status, body FROM peer_keys WHERE key = $1",
    [key],
  );
  const [known] = rows;
  if (known === undefined) return busy;
  if (known.status !== null) return { status: known.status, body: known.body ?? "" };
  return payment.status === "capturing" ? { payment, operationId: known.operation_id } : busy;
}

async function settle(
  client: PoolClient,
  { key, paymentId }: CaptureRequest,
  { operationId }: Begun,
  { reference, body }: { readonly reference: string; readonly body: string },
): Promise<void> {
  await client.query({
    name: "settle",
    text: "UPDATE peer_operations SET status = 'succeeded', gateway_reference = $2 WHERE id = $1",
    values: [operationId, reference],
  });
  await client.query({
    name: "captured",
    text: "UPDATE peer_payments SET status = 'captured' WHERE id = $1",
    values: [paymentId],
  });
  await client.query({
    name: "event",
    text: "INSERT INTO peer_events (payment_id, type) VALUES ($1, 'payment.captured')",
    values: [paymentId],
  });
  await client.query({
    name: "answer",
    text: "UPDATE peer_keys SET status = 201, body = $2 WHERE key = $1",
    values: [key, body],
  });
}

/** What it rejects with undoes it; so does an answer that is not a success: nothing was begun. */
export async function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query("BEGIN");
    const result = await work(client);
    const isRefused =
      typeof result === "object" && result !== null && "status" in result && Number(result.status) >= 400;
    await client.query(isRefused ? "ROLLBACK" : "COMMIT");
    return result;
  } catch (error) {
    await client.query("ROLLBACK").catch(() => {});
    throw error;
  } finally {
    client.release();
  }
}
