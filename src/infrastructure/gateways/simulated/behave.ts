import type { GatewayAnswer } from "../../../application/ports/payment-gateway";
import type { PendingAnswer } from "../../../domain/payment/facts";
import type { GatewayTables, LedgerRequest, LedgerState } from "./ledgers/gateway-ledger";
import { sendCustomer } from "./customer-action";
import { captureElsewhere } from "./elsewhere";
import { moveMoney, record, referenceOf } from "./move-money";
import type { TokenBehaviour } from "./payment-method-token";

/** What came of a request, and how long its caller is kept waiting for it. */
export type Received =
  | { readonly answer: GatewayAnswer; readonly afterMs: number }
  /** It lands, and is answered, at the end of the wait. */
  | { readonly landsAfterMs: number };

export const timedOut: GatewayAnswer = { outcome: "unknown", reason: "timeout" };
export const serverError: GatewayAnswer = { outcome: "unknown", reason: "http_500" };

const PROCESSING_MS = 5_000;
/** After the first question of the schedule, and before the second one. */
const PENDING_MS = 3_600_000;

/** What is taken has the name that it has when it is done. */
export function pendingAs({ kind, gatewayKey }: LedgerRequest, decidesBy: Date): PendingAnswer {
  return { outcome: "pending", reference: referenceOf(kind, gatewayKey), decidesBy };
}

interface Circumstances {
  readonly now: Date;
  readonly timeoutMs: number;
  readonly hasCustomerPages: boolean;
}

/** The first send of an operation, as its payment method token wants it. */
export async function behave(
  tables: GatewayTables,
  request: LedgerRequest,
  behaviour: TokenBehaviour,
  { now, timeoutMs, hasCustomerPages }: Circumstances,
): Promise<Received> {
  const keep = (state: LedgerState) => tables.putEntry({ ...request, state });
  const inMs = (ms: number) => new Date(now.getTime() + ms);
  const decideLater = async (is: "deciding" | "refusing", ms: number) => {
    await keep({ is, dueAt: inMs(ms) });
    return atOnce(pendingAs(request, inMs(ms)));
  };
  switch (behaviour.does) {
    case "ok":
      return atOnce(await moveMoney(tables, request, now));
    case "decline":
      return atOnce(await record(tables, request, { outcome: "declined", reason: "card_declined" }));
    case "authorization_gone":
      await loseAuthorization(tables, request);
      return atOnce(await record(tables, request, { outcome: "authorization_gone", reason: "expired" }));
    case "requires_action":
      return atOnce(await sendCustomer(tables, request, hasCustomerPages));
    case "timeout_captured":
      await moveMoney(tables, request, now);
      return { answer: timedOut, afterMs: timeoutMs };
    case "timeout_not_captured":
      await keep({ is: "lost" });
      return { answer: timedOut, afterMs: timeoutMs };
    case "late":
      await keep({ is: "in_flight", dueAt: inMs(behaviour.ms) });
      return { answer: timedOut, afterMs: timeoutMs };
    case "slow":
      await keep({ is: "in_flight", dueAt: inMs(behaviour.ms) });
      return { landsAfterMs: behaviour.ms };
    case "fails_later": {
      const answer = await moveMoney(tables, request, now);
      if (answer.outcome === "succeeded") await keep({ is: "failing", answer, dueAt: inMs(behaviour.ms) });
      return atOnce(answer);
    }
    case "error_500":
      await keep({ is: "lost" });
      return atOnce(serverError);
    case "error_500_stored":
      await keep({ is: "broken" });
      return atOnce(serverError);
    case "unreachable":
      await keep({ is: "lost" });
      return atOnce({ outcome: "not_sent", reason: "connection refused" });
    case "processing":
      return decideLater("deciding", PROCESSING_MS);
    case "pending":
      return decideLater("deciding", PENDING_MS);
    case "pending_then_failed":
      return decideLater("refusing", PENDING_MS);
    case "captured_elsewhere":
      await captureElsewhere(tables, request, now);
      return atOnce(await moveMoney(tables, request, now));
  }
}

function atOnce(answer: GatewayAnswer): Received {
  return { answer, afterMs: 0 };
}

async function loseAuthorization(tables: GatewayTables, request: LedgerRequest): Promise<void> {
  if (request.kind === "refund" || request.authorizationReference === null) return;
  const authorization = await tables.authorization(request.authorizationReference);
  if (authorization?.status !== "open") return;
  await tables.putAuthorization({ ...authorization, status: "gone", reserved: 0n });
}
