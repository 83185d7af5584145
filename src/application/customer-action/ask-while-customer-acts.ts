import {
  isCustomerLate,
  sendCustomer,
  stillWaiting,
  withoutLateCustomer,
} from "../../domain/payment/customer/customer-action";
import type { EventData } from "../../domain/payment/events";
import type { Operation } from "../../domain/payment/operation";
import type { Payment } from "../../domain/payment/payment";
import { find, gatewayTrace } from "../operations/ask-gateway";
import { isRecorded } from "../operations/ask-in-review";
import type { Resolved } from "../operations/find-or-resend";
import { stepNow, type UnderLock } from "../operations/operation-context";
import { settleOperation } from "../operations/settle-operation";
import type { FindAnswer } from "../ports/payment-gateway";
import { StoreUnavailableError, VersionConflictError, type StoredPayment } from "../ports/payment-repository";

/**
 * Asks whether the customer has acted, and stops waiting for one whose time is over. The authorization is never sent again:
 * the gateway has it. Between the question and the end the customer may still act; the release that then follows lets go of
 * what they have reserved.
 */
export async function askWhileCustomerActs(
  work: UnderLock,
  stored: StoredPayment,
  operation: Operation,
): Promise<Resolved> {
  const { context, hold } = work;
  const found = await find(context.gateway, stored.payment, operation);
  const trace: EventData = { ...work.trace, ...gatewayTrace("find", operation, found) };
  if (isRecorded(found) || found.outcome === "mismatch") {
    const finding = { operationId: operation.id, verdict: found, trace };
    return { stored: (await settleOperation(context, stored, finding)) ?? stored, by: "find" };
  }
  hold.assertHeld();
  const step = stepNow(context, trace);
  const isLate = isCustomerLate(operation, step.now);
  const next = isLate
    ? withoutLateCustomer(stored.payment, operation.id, step)
    : waitingOn(stored.payment, operation, found, step);
  try {
    const saved = await context.payments.save(next, stored.version);
    const isSilent = !isLate && found.outcome !== "requires_action";
    return { stored: saved, by: "find", ...(isSilent && { silent: true }) };
  } catch (error) {
    // It stays due: what could not be written is asked again.
    if (error instanceof StoreUnavailableError || error instanceof VersionConflictError)
      return { stored, by: "row" };
    throw error;
  }
}

function waitingOn(
  payment: Payment,
  { id }: Operation,
  found: FindAnswer,
  step: ReturnType<typeof stepNow>,
): Payment {
  return found.outcome === "requires_action"
    ? sendCustomer(payment, id, found, step)
    : stillWaiting(payment, id, step);
}
