// Wrong, and common: the gateway is called inside the transaction that holds the payment's row. What is rolled back, or
// lost with the process, takes the memory of what was sent with it: a repetition sends something new.
import { randomUUID } from "node:crypto";
import { inTransaction } from "./careful";
import { captureAtGateway } from "./gateway-call";
import { busy, captured, notFound, type CaptureReply, type Peer, type PeerPayment } from "./peer";

export const inside: Peer =
  (pool, gateway) =>
  ({ paymentId, key }) =>
    inTransaction(pool, async (client): Promise<CaptureReply> => {
      const { rows } = await client.query<PeerPayment>({
        name: "payment",
        text: "SELECT * FROM peer_payments WHERE id = $1 FOR UPDATE",
        values: [paymentId],
      });
      const [payment] = rows;
      if (payment === undefined) return notFound;
      const known = await client.query<{ body: string }>({
        name: "known",
        text: "SELECT body FROM peer_keys WHERE key = $1",
        values: [key],
      });
      if (known.rows[0] !== undefined) return { status: 201, body: known.rows[0].body };
      if (payment.status !== "authorized") return busy;
      const operationId = randomUUID();
      if ((await captureAtGateway(gateway, payment, operationId)) === null)
        return { status: 502, body: '{"error":"gateway"}' };
      const body = captured(operationId);
      await client.query({
        name: "captured",
        text: "UPDATE peer_payments SET status = 'captured' WHERE id = $1",
        values: [paymentId],
      });
      await client.query({
        name: "key",
        text: "INSERT INTO peer_keys (key, payment_id, operation_id, status, body) VALUES ($1, $2, $3, 201, $4)",
        values: [key, paymentId, operationId, body],
      });
      return { status: 201, body };
    });
