import type { MerchantId } from "../../domain/identifiers";
import type { EventData } from "../../domain/payment/events";
import type { LockTimeout, ResolvedLockTimeout } from "../ports/lock-timeout";

/** On whose behalf money moves, and how long they are willing to wait. */
export interface Caller {
  readonly merchant: MerchantId;
  /** May do what looks across merchants. */
  readonly operator?: boolean;
  /** For the payment's history: which key, which request. Never a secret. */
  readonly actor: EventData;
  readonly lockTimeout?: LockTimeout | ResolvedLockTimeout | undefined;
  /** Ends the wait for the lock. Once inside, the operation goes on without its caller. */
  readonly signal?: AbortSignal | undefined;
}

/** Operators act on any merchant's payment. */
export type OperatorCaller = Omit<Caller, "merchant">;
