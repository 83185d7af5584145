// As few statements as it takes to be right: one row for a payment's only capture is the key, the intent and the answer.
// No history, no list of operations, no second attempt after a refusal.
import { randomUUID } from "node:crypto";
import { captureAtGateway } from "./gateway-call";
import { busy, captured, notFound, type Peer, type PeerPayment } from "./peer";

export const short: Peer =
  (pool, gateway) =>
  async ({ paymentId, key }) => {
    const { rows } = await pool.query<
      PeerPayment & { operation_id: string; body: string | null; own_key: string }
    >({
      name: "begin",
      text: `
        WITH begun AS (
          INSERT INTO peer_short (payment_id, key, operation_id) SELECT id, $2, $3 FROM peer_payments WHERE id = $1
          ON CONFLICT (payment_id) DO UPDATE SET key = peer_short.key RETURNING *
        )
        SELECT p.*, begun.operation_id, begun.body, begun.key AS own_key
        FROM begun JOIN peer_payments AS p ON p.id = begun.payment_id`,
      values: [paymentId, key, randomUUID()],
    });
    const [begun] = rows;
    if (begun === undefined) return notFound;
    if (begun.own_key !== key) return busy;
    if (begun.body !== null) return { status: 201, body: begun.body };
    const reference = await captureAtGateway(gateway, begun, begun.operation_id);
    if (reference === null) return { status: 202, body: '{"capture":{"status":"unknown"}}' };
    const body = captured(begun.operation_id);
    await pool.query({
      name: "settle",
      text: "UPDATE peer_short SET body = $2 WHERE payment_id = $1",
      values: [paymentId, body],
    });
    return { status: 201, body };
  };
