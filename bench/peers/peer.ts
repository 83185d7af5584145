import type { Pool } from "pg";
import type { SimulatedGateway } from "../../src/infrastructure/gateways/simulated/simulated-gateway";

export interface CaptureRequest {
  readonly paymentId: string;
  readonly key: string;
}

export interface CaptureReply {
  readonly status: number;
  readonly body: string;
}

/** A capture as somebody else would write it, with `pg` and nothing of Holdfast's but the gateway that both sides call. */
export type Peer = (
  pool: Pool,
  gateway: SimulatedGateway,
) => (request: CaptureRequest) => Promise<CaptureReply>;

export interface PeerPayment {
  readonly id: string;
  readonly reference: string;
  readonly amount: string;
  readonly status: string;
}

export const notFound: CaptureReply = { status: 404, body: '{"error":"not_found"}' };
export const busy: CaptureReply = { status: 409, body: '{"error":"in_progress"}' };
export const captured = (operationId: string): string =>
  JSON.stringify({ capture: { id: operationId, status: "succeeded" } });
