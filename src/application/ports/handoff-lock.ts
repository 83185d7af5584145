import type { LockHold, LockOptions } from "./lock-provider";

/**
 * Long ownership of one resource, given up on request. A factory makes one per resource.
 *
 * An implementation MUST
 * - wait in `acquire` as the single registered waiter, up to the timeout, and reject with `LockContentionError` at once
 *   when another live waiter is registered; with timeout 0 it does not register;
 * - renew in the background from `acquire` to `release`, without help from the owner;
 * - call the `onReleaseRequested` handler once per waiter that asks, while the lock is held;
 * - call the `onLost` handler at most once per tenure, no later than the instant at which another may own the lock,
 *   as far as this process is running at that instant; `hold.assertHeld()` is right even after a stall;
 * - make `release` idempotent, never free a successor's lock, and confirm or outlast its own lease before it resolves.
 */
export interface HandoffLock {
  acquire(options?: Omit<LockOptions, "permits">): Promise<LockHold>;
  release(): Promise<void>;
  onReleaseRequested(handler: () => void): void;
  onLost(handler: (reason: string) => void): void;
}
