import { LockUnavailableError } from "../../../application/ports/lock-errors";
import type { Attempt, AttemptRequest, LockBackend, Tenure } from "../lock-backend";
import type { LeaseClient } from "./lease-client";
import type { LeaseContender } from "./lease-contender";
import { UnreadableLeaseRecordError } from "./lease-record";
import { PermanentLeaseStoreError } from "./lease-record-store";
import type { LeaseTenure } from "./lease-tenure";

/**
 * Excludes: everyone who uses the same record store, as far as all of them play by the lease's rules.
 * Survives: a dead holder (its lease ends), lost and repeated requests, clocks that disagree; not the loss of the store.
 * Not for: hot keys (one write per second and object is what GCS gives), or writes that nothing else guards: a holder
 * that stalls past its lease is inside with its successor until it looks at `assertHeld` or the store at its fence.
 */
export class LeaseLockBackend implements LockBackend {
  private readonly contenders = new Map<string, LeaseContender>();

  /** `begin` starts a tenure's background work. */
  constructor(
    readonly adapter: string,
    private readonly client: LeaseClient,
    private readonly begin: (tenure: LeaseTenure) => void = (tenure) => tenure.begin(),
  ) {}

  async attempt(resourceId: string, request: AttemptRequest): Promise<Attempt> {
    const inherited = this.contenders.get(resourceId);
    const contender = inherited ?? this.client.contend(resourceId);
    this.contenders.set(resourceId, contender);
    try {
      const answer = await contender.attempt(request);
      if (answer.kind !== "acquired") return answer;
      this.contenders.delete(resourceId);
      return { kind: "acquired", tenure: this.started(answer.tenure) };
    } catch (error) {
      throw unavailable(resourceId, error);
    } finally {
      // Nobody will call `leave` for an attempt that was not to wait, and its claim may still be applied.
      const isOnItsOwn = inherited === undefined && !request.mayWait;
      if (isOnItsOwn && this.contenders.get(resourceId) === contender) this.leave(resourceId);
    }
  }

  leave(resourceId: string): void {
    const contender = this.contenders.get(resourceId);
    if (contender === undefined) return;
    if (contender.isTraceless) {
      this.contenders.delete(resourceId);
      return;
    }
    void this.client.cleaning(this.withdraw(resourceId, contender));
  }

  close(): Promise<void> {
    return this.client.close();
  }

  private async withdraw(resourceId: string, contender: LeaseContender): Promise<void> {
    if ((await contender.withdraw()) && this.contenders.get(resourceId) === contender)
      this.contenders.delete(resourceId);
  }

  private started(tenure: LeaseTenure): Tenure {
    const { client } = this;
    client.hold(tenure);
    this.begin(tenure);
    return {
      fencingToken: tenure.fencingToken,
      lost: tenure.lost,
      assertHeld: () => tenure.assertHeld(),
      release: () => client.release(tenure),
    };
  }
}

function unavailable(resourceId: string, error: unknown): LockUnavailableError {
  const reason = error instanceof Error ? error.message : String(error);
  const permanent = error instanceof PermanentLeaseStoreError || error instanceof UnreadableLeaseRecordError;
  return new LockUnavailableError(resourceId, reason, { cause: error, permanent });
}
