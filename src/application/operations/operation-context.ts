import type { EventData } from "../../domain/payment/events";
import type { Step } from "../../domain/payment/step";
import type { GatewayAccounts } from "../ports/accounts/merchant-account-store";
import type { Clock } from "../ports/clock";
import type { IdGenerator } from "../ports/id-generator";
import { describeHolder } from "../ports/lock-errors";
import type { LockHold } from "../ports/lock-provider";
import type { PaymentGateway } from "../ports/payment-gateway";
import type { PaymentRepository } from "../ports/payment-repository";
import type { BackgroundName, WorkTraces } from "../ports/traces/work-traces";
import { scheduleAt } from "./reconcile-schedule";

/** What moving money takes from outside, beside the lock. */
export interface OperationContext {
  readonly payments: PaymentRepository;
  readonly gateway: PaymentGateway;
  /** Whose account a merchant's new payments are authorized in; left out where there is only the common one. */
  readonly accounts?: GatewayAccounts | undefined;
  /** Left out where nothing is traced. */
  readonly traces?: WorkTraces | undefined;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  /** In [0, 1). */
  readonly random: () => number;
  /** Resolves after that time; tests pass virtual time. */
  readonly sleep: (ms: number) => Promise<void>;
}

/** What work under a payment's lock goes by. */
export interface UnderLock {
  readonly context: OperationContext;
  readonly hold: LockHold;
  /** Who is at work and by which lock: a part of each event that the work leaves. */
  readonly trace: EventData;
}

/** Work that no request waits for. */
export function inBackground<T>(
  { traces }: OperationContext,
  name: BackgroundName,
  operationId: string | null,
  work: () => Promise<T>,
): Promise<T> {
  return traces === undefined ? work() : traces.background(name, operationId, work);
}

export function underLock(context: OperationContext, hold: LockHold, by: EventData): UnderLock {
  return { context, hold, trace: { by, ...lockTrace(hold) } };
}

/** One reading of the clock, and why the step is made. */
export function stepNow(context: OperationContext, trace: EventData): Step {
  const now = context.clock.now();
  return {
    now,
    nextId: () => context.ids.nextId(),
    schedule: scheduleAt(now, context.random, context.gateway.decidesWithinMs),
    trace,
  };
}

/** What an event tells about the lock that its step was made under. */
function lockTrace(hold: LockHold): EventData {
  return {
    lock: {
      fencingToken: hold.fencingToken.toString(),
      waitedMs: hold.waitedMs,
      ...(hold.waitedFor === undefined ? {} : { waitedFor: describeHolder(hold.waitedFor) }),
    },
  };
}
