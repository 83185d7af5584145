import {
  LockLostError,
  LockTimeoutError,
  LockUnavailableError,
} from "../../../application/ports/lock-errors";
import type { LockHold, LockHolder, LockOptions } from "../../../application/ports/lock-provider";
import { builtInLockTimeouts, type LockTimeoutPolicy } from "../../../application/ports/lock-timeout";
import { Loss } from "../hold/loss";
import { LinedLockProvider } from "../line/lined-lock-provider";
import { limitOf } from "../line/wait-limit";
import type { Attempt, LockBackend, Semaphore, Tenure } from "../lock-backend";
import type { LockProviderSettings } from "../lock-settings";
import { slotsOver } from "../slots/slot-search";

/** What goes wrong with one acquisition of one id. */
export type LockFault =
  /** `LockTimeoutError`, at once and whatever its limit is, as if this holder had been inside all the time. */
  | { readonly fault: "times out"; readonly holder?: LockHolder }
  /** `LockUnavailableError`, at once and whatever its limit is. */
  | { readonly fault: "is unavailable"; readonly permanent?: boolean; readonly reason?: string }
  /** The backend does not answer before that, and everybody's limit goes on. */
  | { readonly fault: "is delayed"; readonly until: Promise<unknown> }
  /** The section has its outcome, and the id stays locked until `lose` ends it, as the end of a lease would. */
  | { readonly fault: "fails to release" };

const ORDERED = "ordered by the test";
const FAULTS: readonly string[] = [
  "times out",
  "is unavailable",
  "is delayed",
  "fails to release",
] satisfies LockFault["fault"][];

/**
 * Locks in memory on which everything goes well until a test says otherwise: for tests of code that takes locks.
 *
 * Excludes: callers in this process that share this provider.
 * Survives: nothing.
 * Not for: production.
 */
export class FaultyLockProvider extends LinedLockProvider {
  private readonly memory: FaultyBackend;
  private readonly timeouts: LockTimeoutPolicy;

  constructor(settings: LockProviderSettings = {}) {
    const memory = new FaultyBackend();
    super(memory, settings);
    this.memory = memory;
    this.timeouts = settings.timeouts ?? builtInLockTimeouts;
  }

  /** For an acquisition of this id that is still to come: the next one, or the one after those that have an order. */
  order(resourceId: string, fault: LockFault): void {
    if (!FAULTS.includes(fault.fault))
      throw new RangeError(`there is no fault "${fault.fault}": ${FAULTS.join(", ")}`);
    const orders = this.memory.orders.get(resourceId) ?? [];
    this.memory.orders.set(resourceId, [...orders, fault]);
  }

  /**
   * Takes the lock from whoever is inside, and of several with permits from who has been there longest: its signal fires,
   * and `assertHeld` throws. Throws where nobody is.
   */
  lose(resourceId: string, reason = ORDERED): void {
    const tenure = [...this.memory.held.values()].find((one) => one.resourceId === resourceId);
    if (tenure === undefined) throw new Error(`nobody holds ${resourceId}: there is nothing to lose`);
    tenure.lose(reason);
  }

  /** Does not wait for what a test never lets happen. */
  override close(): Promise<void> {
    this.memory.hurry();
    return super.close();
  }

  override async withLock<T>(
    resourceId: string,
    criticalSection: (hold: LockHold) => T | PromiseLike<T>,
    options: LockOptions = {},
  ): Promise<T> {
    const refusal = this.memory.take(resourceId, "times out", "is unavailable");
    if (refusal === undefined) return super.withLock(resourceId, criticalSection, options);
    const { scope } = options;
    const limit = limitOf(options.timeout ?? this.timeouts(scope));
    const waitedMs = limit.timeout === "infinite" ? 0 : limit.timeout;
    if (refusal.fault === "times out")
      throw new LockTimeoutError(resourceId, waitedMs, limit, refusal.holder, undefined, scope);
    const { permanent = false, reason = ORDERED } = refusal;
    const wait = { waitedMs, limit, ...(scope === undefined ? {} : { scope }) };
    throw new LockUnavailableError(resourceId, reason, { permanent, wait });
  }
}

type FaultOf<Kind extends LockFault["fault"]> = Extract<LockFault, { readonly fault: Kind }>;

class FaultyBackend implements LockBackend {
  readonly adapter = "faulty";
  readonly orders = new Map<string, readonly LockFault[]>();
  readonly held = new Map<string, FaultyTenure>();
  private fence = 0;
  /** Ends every delay. */
  readonly hurry: () => void;
  private readonly hurried: Promise<void>;

  constructor() {
    let hurry = (): void => {};
    this.hurried = new Promise((resolve) => (hurry = resolve));
    this.hurry = () => hurry();
  }

  /** The oldest order, if it is one of these. */
  take<Kind extends LockFault["fault"]>(resourceId: string, ...kinds: Kind[]): FaultOf<Kind> | undefined {
    const [oldest, ...others] = this.orders.get(resourceId) ?? [];
    if (oldest === undefined || !(kinds as string[]).includes(oldest.fault)) return undefined;
    if (others.length === 0) this.orders.delete(resourceId);
    else this.orders.set(resourceId, others);
    return oldest as FaultOf<Kind>;
  }

  attempt(resourceId: string): Promise<Attempt> {
    return this.attemptAt(resourceId, resourceId);
  }

  /** Orders are for the id, whichever slot of it is had. */
  slots(semaphore: Semaphore): LockBackend {
    const { resourceId, permits } = semaphore;
    const slots: LockBackend = {
      adapter: this.adapter,
      attempt: (slot) => this.attemptAt(slot, resourceId),
      close: () => this.close(),
    };
    // There are no other processes, and the callers of this one cannot disagree by the time they come here.
    return slotsOver(slots, { read: async () => permits, replace: async () => true }, semaphore);
  }

  async close(): Promise<void> {}

  private async attemptAt(place: string, resourceId: string): Promise<Attempt> {
    if (this.held.has(place)) return { kind: "held" };
    const order = this.take(resourceId, "is delayed", "fails to release");
    if (order?.fault === "is delayed") await Promise.race([order.until, this.hurried]);
    this.fence = Math.max(this.fence, Date.now()) + 1;
    const end = (): void => void this.held.delete(place);
    const failsToRelease = order?.fault === "fails to release";
    const tenure = new FaultyTenure(resourceId, BigInt(this.fence), failsToRelease, end);
    this.held.set(place, tenure);
    return { kind: "acquired", tenure };
  }
}

class FaultyTenure implements Tenure {
  private readonly loss = new Loss();

  constructor(
    readonly resourceId: string,
    readonly fencingToken: bigint,
    private readonly failsToRelease: boolean,
    private readonly end: () => void,
  ) {}

  get lost(): AbortSignal {
    return this.loss.signal;
  }

  assertHeld(): void {
    if (this.loss.reason !== null) throw new LockLostError(this.resourceId, this.loss.reason);
  }

  aloneForMs(): number {
    return this.loss.reason === null ? Infinity : 0;
  }

  async release(): Promise<void> {
    if (this.failsToRelease) throw new Error(ORDERED);
    if (this.loss.reason === null) this.end();
  }

  lose(reason: string): void {
    this.end();
    this.loss.declare(reason);
  }
}
