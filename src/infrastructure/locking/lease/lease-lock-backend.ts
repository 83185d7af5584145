import { LockUnavailableError } from "../../../application/ports/lock-errors";
import type {
  Attempt,
  AttemptRequest,
  LockBackend,
  Semaphore,
  Tenure,
  TenureHappening,
} from "../lock-backend";
import type { AgreedPermits } from "../slots/agreed-permits";
import { slotsOver } from "../slots/slot-search";
import type { LeaseClient } from "./lease-client";
import type { LeaseBid } from "./tenure/lease-bid";
import { UnreadableLeaseRecordError } from "./protocol/lease-record";
import { PermanentLeaseStoreError } from "./protocol/lease-record-store";
import type { LeaseTenure, TenureListener } from "./tenure/lease-tenure";

interface OpenBid {
  readonly bid: LeaseBid;
  /** A caller waits for it, and `leave` will be called when no caller does any more. */
  willBeWithdrawn: boolean;
}

/**
 * Excludes: everyone who uses the same record store, as far as all of them play by the lease's rules.
 * Survives: a dead holder (its lease ends), lost and repeated requests, clocks that disagree; not the loss of the store.
 * Not for: hot keys (one write per second and object is what GCS gives), or writes that nothing else guards: a holder
 * that stalls past its lease is inside with its successor until it looks at `assertHeld` or the store at its fence.
 */
export class LeaseLockBackend implements LockBackend {
  private readonly bids = new Map<string, OpenBid>();

  /** `begin` starts a tenure's background work. */
  constructor(
    readonly adapter: string,
    private readonly client: LeaseClient,
    private readonly begin = (tenure: LeaseTenure, listener: TenureListener): void => tenure.begin(listener),
  ) {}

  async attempt(resourceId: string, request: AttemptRequest): Promise<Attempt> {
    const open = this.bidOf(resourceId);
    if (request.mayWait) open.willBeWithdrawn = true;
    try {
      const answer = await open.bid.attempt(request);
      if (answer.kind !== "acquired") return answer;
      this.bids.delete(resourceId);
      return { kind: "acquired", tenure: this.started(answer.tenure) };
    } catch (error) {
      throw unavailable(resourceId, error);
    } finally {
      // `leave` is not called for an attempt that was not to wait, and yet its claim may still be applied, or it may have
      // interrupted the withdrawal of those who waited before it.
      if (!open.willBeWithdrawn) this.leave(resourceId);
    }
  }

  onReleased(resourceId: string, wake: () => void): () => void {
    return this.client.onReleased(resourceId, wake);
  }

  leave(resourceId: string): void {
    const open = this.bids.get(resourceId);
    if (open === undefined) return;
    open.willBeWithdrawn = false;
    if (!open.bid.mayHaveLeftTrace) this.bids.delete(resourceId);
    else void this.client.cleaning(this.withdraw(resourceId, open));
  }

  slots(semaphore: Semaphore): LockBackend {
    const { permits } = this.client;
    const inWords = (resourceId: string) => (error: unknown) => {
      throw unavailable(resourceId, error);
    };
    const agreed: AgreedPermits = {
      read: (id) => permits.read(id).catch(inWords(id)),
      replace: (id, ...change) => permits.replace(id, ...change).catch(inWords(id)),
    };
    return slotsOver(this, agreed, semaphore);
  }

  close(): Promise<void> {
    return this.client.close();
  }

  private bidOf(resourceId: string): OpenBid {
    let open = this.bids.get(resourceId);
    if (open === undefined) {
      open = { bid: this.client.bidFor(resourceId), willBeWithdrawn: false };
      this.bids.set(resourceId, open);
    }
    return open;
  }

  private async withdraw(resourceId: string, open: OpenBid): Promise<void> {
    const isGone = await open.bid.withdraw();
    if (isGone && this.bids.get(resourceId) === open) this.bids.delete(resourceId);
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
      leaveFor: (restMs) => client.leave(tenure, restMs),
      observe: (observer) => (tell = observer),
    };
  }
}

function unavailable(resourceId: string, error: unknown): LockUnavailableError {
  const reason = error instanceof Error ? error.message : String(error);
  const permanent = error instanceof PermanentLeaseStoreError || error instanceof UnreadableLeaseRecordError;
  return new LockUnavailableError(resourceId, reason, { cause: error, permanent });
}
