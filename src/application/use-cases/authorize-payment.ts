import { parsePaymentId, type IdempotencyKey, type PaymentId } from "../../domain/identifiers";
import type { Money } from "../../domain/money";
import { decideAuthorizeAgain } from "../../domain/payment/decide-movement";
import type { KeyedRequest } from "../../domain/payment/facts";
import { labelsOf, type PaymentLabels } from "../../domain/labels";
import { openPayment } from "../../domain/payment/opening";
import type { Caller } from "../operations/caller";
import { fingerprint, labelParts } from "../operations/fingerprint";
import { isInDoubt, lookAgain } from "../operations/in-doubt";
import { stepNow, underLock, type OperationContext } from "../operations/operation-context";
import type { OperationOutcome } from "../operations/operation-outcome";
import { withPaymentLock } from "../operations/payment-lock";
import { sendIntent } from "../operations/send-intent";
import { throughGateway, type Movement } from "../operations/through-gateway";
import type { LockProvider } from "../ports/lock-provider";
import { DuplicateKeyError } from "../ports/payment-repository";

export interface AuthorizePaymentCommand extends PaymentLabels {
  readonly idempotencyKey: IdempotencyKey;
  readonly amount: Money;
  readonly paymentMethod: string;
  /** Where the customer comes back to, if the gateway sends them to a page of its own; left out: nowhere. */
  readonly returnUrl?: string | undefined;
  /** How long the money may be captured, counted from the request that is sent. */
  readonly expiresInSeconds: number;
}

/** Reserves an amount. The key's scope is the merchant, because there is no payment yet that it could belong to. */
export class AuthorizePayment {
  constructor(
    private readonly locks: LockProvider,
    private readonly operations: OperationContext,
  ) {}

  async execute(command: AuthorizePaymentCommand, caller: Caller): Promise<OperationOutcome> {
    const { payments } = this.operations;
    const known = await payments.findByAuthorizeKey(caller.merchant, command.idempotencyKey);
    if (known !== null) return this.again(known, command, caller);
    try {
      return await this.first(command, caller);
    } catch (error) {
      const started = async (): Promise<OperationOutcome> => {
        const winner = await payments.findByAuthorizeKey(caller.merchant, command.idempotencyKey);
        if (winner === null) throw error;
        return this.again(winner, command, caller);
      };
      if (isInDoubt(error)) return lookAgain(error, started);
      // Another request with this key was faster. What it started is what this one gets.
      if (error instanceof DuplicateKeyError) return started();
      throw error;
    }
  }

  private async first(command: AuthorizePaymentCommand, caller: Caller): Promise<OperationOutcome> {
    const { operations } = this;
    // Asked once: wherever the merchant's next payment goes, this one stays where it was begun.
    const gatewayAccount = (await operations.accounts?.accountOf(caller.merchant)) ?? null;
    const paymentId = parsePaymentId(operations.ids.nextId());
    // This id is not known anywhere yet; the lock keeps the reconciler out while the gateway is being asked.
    return withPaymentLock(this.locks, { paymentId, purpose: "authorize", caller }, async (hold) => {
      const work = underLock(operations, hold, caller.actor);
      const step = stepNow(operations, work.trace);
      const { amount, paymentMethod, returnUrl = null } = command;
      const begun = openPayment(
        {
          id: paymentId,
          merchant: caller.merchant,
          amount,
          paymentMethod,
          returnUrl,
          gatewayAccount,
          ...labelsOf(command),
          expiresAt: endOf(command, step.now),
        },
        requestOf(command, caller),
        step,
      );
      hold.assertHeld();
      const stored = await operations.payments.save(begun.payment, "new");
      return sendIntent(work, { stored, operationId: begun.operationId });
    });
  }

  private again(
    paymentId: PaymentId,
    command: AuthorizePaymentCommand,
    caller: Caller,
  ): Promise<OperationOutcome> {
    const request = requestOf(command, caller);
    const authorize: Movement = {
      kind: "authorize",
      paymentId,
      request,
      decide: (payment, step) => decideAuthorizeAgain(payment, request, endOf(command, step.now), step),
    };
    return throughGateway(this.locks, this.operations, authorize, caller);
  }
}

function requestOf(command: AuthorizePaymentCommand, { merchant }: Caller): KeyedRequest {
  const { idempotencyKey, amount, paymentMethod, returnUrl, expiresInSeconds } = command;
  const asked = fingerprint([
    "authorize",
    merchant,
    amount.amount,
    amount.currency,
    paymentMethod,
    ...labelParts(command),
    BigInt(expiresInSeconds),
    // Keys from before there was one stay what they are.
    ...(returnUrl === undefined ? [] : [returnUrl]),
  ]);
  return { idempotencyKey, fingerprint: asked };
}

function endOf({ expiresInSeconds }: AuthorizePaymentCommand, now: Date): Date {
  return new Date(now.getTime() + expiresInSeconds * 1_000);
}
