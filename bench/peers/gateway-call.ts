import { money, parseCurrency } from "../../src/domain/money";
import type { SimulatedGateway } from "../../src/infrastructure/gateways/simulated/simulated-gateway";
import type { PeerPayment } from "./peer";

const TIMEOUT_MS = 1_000;

/** Resolves with the gateway's reference, or null where it is not known what became of it. */
export async function captureAtGateway(
  gateway: SimulatedGateway,
  payment: PeerPayment,
  operationId: string,
): Promise<string | null> {
  const answer = await gateway.capture({
    gatewayKey: `${operationId}.1`,
    operationId,
    paymentId: payment.id,
    amount: money(BigInt(payment.amount), parseCurrency("EUR")),
    authorizationReference: payment.reference,
    timeoutMs: TIMEOUT_MS,
  });
  return answer.outcome === "succeeded" ? answer.reference : null;
}
