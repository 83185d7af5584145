import {
  parsePaymentId,
  paymentResourceId,
  type IdempotencyKey,
  type PaymentId,
} from "../../domain/identifiers";
import type { Money } from "../../domain/money";
import { Payment } from "../../domain/payment";
import type { EventData } from "../../domain/payment-events";
import { fingerprint, sortedEntries } from "../operations/fingerprint";
import { isInDoubt, lookAgain } from "../operations/in-doubt";
import { lockTrace, stepAt, type OperationContext } from "../operations/operation-context";
import type { OperationOutcome } from "../operations/operation-outcome";
import {
  beginning,
  dueAfter,
  sendIntent,
  throughGateway,
  type Caller,
  type Movement,
} from "../operations/through-gateway";
import type { LockHold } from "../ports/lock-provider";
import { DuplicateKeyError } from "../ports/payment-repository";

export interface AuthorizePaymentCommand {
  readonly idempotencyKey: IdempotencyKey;
  readonly amount: Money;
  readonly paymentMethod: string;
  readonly reference: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  /** How long the money may be captured, counted from the request that is sent. */
  readonly expiresInSeconds: number;
}

/** Reserves an amount. The key's scope is the merchant, because there is no payment yet that it could belong to. */
export class AuthorizePayment {
  constructor(private readonly context: OperationContext) {}

  async execute(command: AuthorizePaymentCommand, caller: Caller): Promise<OperationOutcome> {
    const { payments } = this.context;
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
    const { context } = this;
    const paymentId = parsePaymentId(context.ids.nextId());
    // Nobody else can know this id yet; the lock keeps the reconciler out while the gateway is being asked.
    return context.locks.withLock(
      paymentResourceId(paymentId),
      async (hold: LockHold) => {
        const trace: EventData = { by: caller.actor, ...lockTrace(hold) };
        const now = context.clock.now();
        const begin = beginning(context, this.movement(paymentId, command, caller));
        const payment = Payment.beginAuthorize(
          {
            id: paymentId,
            merchant: caller.merchant,
            amount: command.amount,
            paymentMethod: command.paymentMethod,
            reference: command.reference,
            metadata: command.metadata,
            expiresAt: endOf(command, now),
          },
          begin,
          dueAfter(context, now),
          stepAt(context, now, trace),
        );
        hold.assertHeld();
        const intent = await context.payments.save(payment, "new");
        return sendIntent(context, intent, begin.operationId, hold, trace);
      },
      {
        scope: "payment",
        purpose: "authorize",
        ...(caller.lockTimeout === undefined ? {} : { timeout: caller.lockTimeout }),
        ...(caller.signal === undefined ? {} : { signal: caller.signal }),
      },
    );
  }

  private again(id: PaymentId, command: AuthorizePaymentCommand, caller: Caller): Promise<OperationOutcome> {
    return throughGateway(this.context, this.movement(id, command, caller), caller);
  }

  private movement(paymentId: PaymentId, command: AuthorizePaymentCommand, caller: Caller): Movement {
    return {
      kind: "authorize",
      paymentId,
      idempotencyKey: command.idempotencyKey,
      fingerprint: fingerprint([
        "authorize",
        caller.merchant,
        command.amount.amount,
        command.amount.currency,
        command.paymentMethod,
        command.reference,
        sortedEntries(command.metadata),
        BigInt(command.expiresInSeconds),
      ]),
      decide: (payment, begin, dueAt, step) =>
        payment.decideAuthorizeAgain(begin, endOf(command, step.now), dueAt, step),
    };
  }
}

function endOf({ expiresInSeconds }: AuthorizePaymentCommand, now: Date): Date {
  return new Date(now.getTime() + expiresInSeconds * 1_000);
}
