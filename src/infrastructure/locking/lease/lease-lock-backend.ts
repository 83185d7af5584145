import { LockUnavailableError } from "../../../application/ports/lock-errors";
import type { Attempt, AttemptRequest, LockBackend, Tenure, TenureHappening } from "../lock-backend";
import type { LeaseClient } from "./lease-client";
import type { LeaseContender } from "./lease-contender";
import { UnreadableLeaseRecordError } from "./lease-record";
import { PermanentLeaseStoreError } from "./lease-record-store";
import type { LeaseTenure, TenureListener } from "./lease-tenure";

interface Place {
  readonly contender: LeaseContender;
  /** Somebody waits for it, and will say so when nobody does any more. */
  willBeLeft: boolean;
}

/**
 * Excludes: everyone who uses the same record store, as far as all of them play by the lease's rules.
 * Survives: a dead holder (its lease ends), lost and repeated requests, clocks that disagree; not the loss of the store.
 * Not for: hot keys (one write per second and object is what GCS gives), or writes that nothing else guards: a holder
 * that stalls past its lease is inside with its successor until it looks at `assertHeld` or the store at its fence.
 */
export class LeaseLockBackend implements LockBackend {
  private readonly places = new Map<string, Place>();

  /** `begin` starts a tenure's background work. */
  constructor(
    readonly adapter: string,
    private readonly client: LeaseClient,
    private readonly begin = (tenure: LeaseTenure, listener: TenureListener): void => tenure.begin(listener),
  ) {}

  async attempt(resourceId: string, request: AttemptRequest): Promise<Attempt> {
    const place = this.placeOf(resourceId);
    if (request.mayWait) place.willBeLeft = true;
    try {
      const answer = await place.contender.attempt(request);
      if (answer.kind !== "acquired") return answer;
      this.places.delete(resourceId);
      return { kind: "acquired", tenure: this.started(answer.tenure) };
    } catch (error) {
      throw unavailable(resourceId, error);
    } finally {
      // Nobody calls `leave` for an attempt that was not to wait, and yet its claim may still be applied, or it may have
      // interrupted the withdrawal of those who waited before it.
      if (!place.willBeLeft) this.leave(resourceId);
    }
  }

  onReleased(resourceId: string, wake: () => void): () => void {
    return this.client.onReleased(resourceId, wake);
  }

  leave(resourceId: string): void {
    const place = this.places.get(resourceId);
    if (place === undefined) return;
    place.willBeLeft = false;
    if (place.contender.isTraceless) this.places.delete(resourceId);
    else void this.client.cleaning(this.withdraw(resourceId, place));
  }

  close(): Promise<void> {
    return this.client.close();
  }

  private placeOf(resourceId: string): Place {
    let place = this.places.get(resourceId);
    if (place === undefined) {
      place = { contender: this.client.contend(resourceId), willBeLeft: false };
      this.places.set(resourceId, place);
    }
    return place;
  }

  private async withdraw(resourceId: string, place: Place): Promise<void> {
    const isGone = await place.contender.withdraw();
    if (isGone && this.places.get(resourceId) === place) this.places.delete(resourceId);
  }

  private started(tenure: LeaseTenure): Tenure {
    const { client } = this;
    let tell: ((happening: TenureHappening) => void) | undefined;
    client.hold(tenure);
    this.begin(tenure, { onRenewed: () => tell?.({ type: "renewed" }) });
    return {
      fencingToken: tenure.fencingToken,
      get lost() {
        return tenure.lost;
      },
      assertHeld: () => tenure.assertHeld(),
      aloneForMs: () => tenure.remainingMs(),
      release: () => client.release(tenure),
      observe: (observer) => (tell = observer),
    };
  }
}

function unavailable(resourceId: string, error: unknown): LockUnavailableError {
  const reason = error instanceof Error ? error.message : String(error);
  const permanent = error instanceof PermanentLeaseStoreError || error instanceof UnreadableLeaseRecordError;
  return new LockUnavailableError(resourceId, reason, { cause: error, permanent });
}
