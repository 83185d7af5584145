import type { OperationId, PaymentId } from "../../domain/identifiers";
import { openOperationOf } from "../../domain/payment/payment";
import { WITHOUT_WAITING } from "../background/background-pass";
import type { OperatorCaller } from "../operations/caller";
import { inBackground, underLock, type OperationContext } from "../operations/operation-context";
import { withPaymentLock } from "../operations/payment-lock";
import { LockContentionError, LockTimeoutError } from "../ports/lock-errors";
import type { LockProvider } from "../ports/lock-provider";
import type { ClaimedHint } from "../ports/gateway-events/hint-store";
import type { ObservePayment, ObservedPayment } from "../use-cases/observe-payment";
import type { HintOutcome } from "./hint-observer";
import { settleByAsking } from "./settle-by-asking";

/** For the payment's history: why the gateway was asked. */
const ACTOR = { gatewayEvent: true } as const;
const CALLER: OperatorCaller = { ...WITHOUT_WAITING, actor: ACTOR };
/** No payment has as many operations as so many answers are about. */
const MAX_OBSERVATIONS = 100;

/**
 * Asks the gateway about the payment that a hint points at: what became of the operation that is open, and whether it still
 * says the same of those that have ended. Nothing that the hint says gets into the payment, and nothing is sent.
 */
export class FollowHint {
  constructor(
    private readonly locks: LockProvider,
    private readonly operations: OperationContext,
    private readonly observePayment: Pick<ObservePayment, "execute">,
  ) {}

  /** Rejects with what kept it from asking; the hint is worth another try. */
  async execute(hint: Pick<ClaimedHint, "account" | "reference" | "labelled">): Promise<HintOutcome> {
    const stored = await this.paymentOf(hint);
    if (stored === null) return "no_payment";
    // Whoever has one account, and signs its events, says nothing about what is in another.
    if (stored.payment.facts.gatewayAccount !== (hint.account ?? null)) return "foreign";
    const { id } = stored.payment.facts;
    const open = openOperationOf(stored.payment)?.id ?? null;
    try {
      return await inBackground(this.operations, "follow hint", open, async () => {
        // Nobody has to wait in line behind a hint where there is nothing to settle.
        const isSettled = open === null || (await this.settle(id));
        return isSettled && (await this.observe(id)) ? "done" : "unanswered";
      });
    } catch (error) {
      if (error instanceof LockTimeoutError || error instanceof LockContentionError) return "busy";
      throw error;
    }
  }

  /** By what the gateway calls the authorization; or by its label, where the reference has not arrived here yet. */
  private async paymentOf({ reference, labelled }: Pick<ClaimedHint, "reference" | "labelled">) {
    const { payments } = this.operations;
    const id = (await payments.findByAuthorization(reference)) ?? labelled;
    return id === null ? null : payments.find(id);
  }

  private settle(paymentId: PaymentId): Promise<boolean> {
    const request = { paymentId, purpose: "gateway event", caller: CALLER };
    return withPaymentLock(this.locks, request, async (hold) => {
      const stored = await this.operations.payments.find(paymentId);
      return stored === null || settleByAsking(underLock(this.operations, hold, ACTOR), stored);
    });
  }

  private async observe(paymentId: PaymentId): Promise<boolean> {
    let after: OperationId | null = null;
    let isAnswered = true;
    for (let rounds = 0; rounds < MAX_OBSERVATIONS; rounds += 1) {
      const observed: ObservedPayment = await this.observePayment.execute(paymentId, CALLER, after);
      isAnswered &&= observed.isPictured;
      isAnswered &&= observed.observations.every((one) => !("seen" in one) || one.seen.outcome !== "unknown");
      after = observed.next;
      if (after === null) break;
    }
    return isAnswered;
  }
}
