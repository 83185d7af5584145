import type { HandoffLock } from "../../../application/ports/handoff-lock";
import { LinedLockProvider } from "../lined-lock-provider";
import type { LockProviderSettings } from "../lock-settings";
import { HandoffLease } from "./handoff-lease";
import { LeaseClient, type LeaseClientOptions } from "./lease-client";
import { LeaseLockBackend } from "./lease-lock-backend";
import type { LeaseRecordStore } from "./lease-record-store";

export interface LeaseLockProviderOptions extends LockProviderSettings {
  readonly lease?: LeaseClientOptions["settings"];
  readonly environment?: LeaseClientOptions["environment"];
  /** Short name of the record store for events and metrics: `gcs`, `redis`, … */
  readonly adapter?: string;
}

/**
 * Excludes: everyone who uses the same record store, short holders (`withLock`) and long ones (`handoffLock`) alike.
 * Survives: a dead holder, after its lease; lost, late and repeated requests; clocks that disagree by any amount.
 * Not for: hot keys, and writes that nobody guards by `assertHeld` or the fencing token.
 */
export class LeaseLockProvider extends LinedLockProvider {
  private readonly client: LeaseClient;
  private readonly options: LeaseLockProviderOptions;
  private readonly adapter: string;

  constructor(store: LeaseRecordStore, options: LeaseLockProviderOptions = {}) {
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
