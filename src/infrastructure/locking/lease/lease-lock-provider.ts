import type { HandoffLock } from "../../../application/ports/handoff-lock";
import { LinedLockProvider } from "../line/lined-lock-provider";
import type { LockProviderSettings } from "../lock-settings";
import { HandoffLease } from "./handoff-lease";
import { LeaseClient } from "./lease-client";
import { LeaseLockBackend } from "./lease-lock-backend";
import type { LeaseEnvironment } from "./protocol/lease-environment";
import type { LeaseRecordStore } from "./protocol/lease-record-store";
import type { LeaseSettings } from "./protocol/lease-settings";

export interface LeaseLockOptions extends LockProviderSettings {
  readonly lease?: Partial<LeaseSettings>;
  readonly environment?: LeaseEnvironment;
  /** Short name of the record store for events and metrics: `gcs`, `redis`, … */
  readonly adapter?: string;
}

/**
 * Excludes: everyone who uses the same record store, short holders (`withLock`) and long ones (`handoffLock`) alike.
 * Survives: a dead holder, after its lease; lost, late and repeated requests; clocks that disagree by any amount.
 * Not for: hot keys, and writes without a guard such as `assertHeld` or the fencing token.
 */
export class LeaseLockProvider extends LinedLockProvider {
  private readonly client: LeaseClient;
  private readonly options: LeaseLockOptions;
  private readonly adapter: string;

  constructor(store: LeaseRecordStore, options: LeaseLockOptions = {}) {
    const client = new LeaseClient(store, {
      ...(options.lease !== undefined && { settings: options.lease }),
      ...(options.environment !== undefined && { environment: options.environment }),
    });
    const adapter = options.adapter ?? "lease";
    const { clock, random } = client.environment;
    super(new LeaseLockBackend(adapter, client), { clock, random, ...options });
    this.client = client;
    this.options = options;
    this.adapter = adapter;
  }

  /** Pending hand-off locks end here, too. What is not given back within `closeMs` ends by its lease. */
  override close(): Promise<void> {
    this.client.beginToClose();
    return super.close();
  }

  /** Long ownership of one resource, under the same leases. Make one per resource. */
  handoffLock(resourceId: string): HandoffLock {
    return new HandoffLease(resourceId, this.client, this.options, this.adapter);
  }
}
