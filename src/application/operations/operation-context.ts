import type { EventData, Step } from "../../domain/payment-events";
import type { Clock } from "../ports/clock";
import type { IdGenerator } from "../ports/id-generator";
import { describeHolder } from "../ports/lock-errors";
import type { LockHold, LockProvider } from "../ports/lock-provider";
import type { PaymentGateway } from "../ports/payment-gateway";
import type { PaymentRepository } from "../ports/payment-repository";

/** What moving money takes from outside. */
export interface OperationContext {
  readonly locks: LockProvider;
  readonly payments: PaymentRepository;
  readonly gateway: PaymentGateway;
  readonly clock: Clock;
  readonly ids: IdGenerator;
  /** In [0, 1). */
  readonly random: () => number;
  /** Resolves after that time; tests pass virtual time. */
  readonly sleep: (ms: number) => Promise<void>;
}

/** One reading of the clock, and why the step is made. */
export function stepAt(context: OperationContext, now: Date, trace: EventData): Step {
  return { now, nextId: () => context.ids.nextId(), trace };
}

/** What an event tells about the lock that its step was made under. */
export function lockTrace(hold: LockHold): EventData {
  return {
    lock: {
      fencingToken: hold.fencingToken.toString(),
      waitedMs: hold.waitedMs,
      ...(hold.waitedFor === undefined ? {} : { waitedFor: describeHolder(hold.waitedFor) }),
    },
  };
}
