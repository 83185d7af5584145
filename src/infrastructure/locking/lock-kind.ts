import type { BreakAudit, LockInspector } from "../../application/ports/lock-inspector";
import type { LockProvider } from "../../application/ports/lock-provider";
import type { LockQueues } from "../../application/ports/lock-queues";
import type { FileTenure } from "./file/file-tenure";
import type { LeaseLockProvider, LeaseLockOptions } from "./lease/lease-lock-provider";
import type { LockProviderSettings } from "./lock-settings";

/** Whom a kind of lock keeps apart: the callers of one process, of one host, or everyone who reaches the same service. */
export type LockReach = "nobody" | "process" | "host" | "network";

/** A provider, with what only some of them have. */
export interface OpenLocks {
  readonly provider: LockProvider;
  /** Rejects when the backend does not answer; absent where there is none. */
  readonly probe?: () => Promise<void>;
  /** False as long as no request has left this process, so that nothing of it can be left behind; absent: it may have. */
  readonly wasReached?: () => boolean;
  /** A place that is missing now stays missing: `probe` decides at start whether there are any locks at all. */
  readonly isThereFromTheStart?: true;
  /** Who stands in line in this process; absent where there is no line. */
  readonly queues?: LockQueues;
  /** What a child of this process can inherit, so that it keeps the lock alive. */
  readonly tenureOf?: (resourceId: string) => FileTenure | undefined;
  /** A lock is kept for the rest of its minimum hold when this process has ended; absent: it ends with the process. */
  readonly keptWithoutUs?: true;
  readonly close?: () => Promise<void>;
}

export interface OpenInspector {
  readonly inspector: LockInspector;
  readonly close?: () => Promise<void>;
}

export interface OpenLeases {
  readonly leases: LeaseLockProvider;
  readonly close: () => Promise<void>;
}

/** Writes down who broke a lock, before it is broken. */
export type Audit = (line: BreakAudit) => Promise<void>;

/** What each kind of lock can do. `Address` is what its setting says. */
export interface LockKind<Address> {
  /** Asks the backend for nothing yet. */
  open(address: Address, settings: LockProviderSettings): OpenLocks;
}

/** Other processes take part, so a person can look at the locks from outside. */
export interface HostLockKind<Address> extends LockKind<Address> {
  inspect(address: Address, audit: Audit): Promise<OpenInspector>;
}

/** Other machines take part, so the same place lends leases, which own a sandbox. */
export interface NetworkLockKind<Address> extends HostLockKind<Address> {
  leases(address: Address, options: LeaseLockOptions): Promise<OpenLeases>;
}

/** What a kind has to bring, by whom it keeps apart. */
export interface LockKindByReach<Address> {
  readonly nobody: LockKind<Address>;
  readonly process: LockKind<Address>;
  readonly host: HostLockKind<Address>;
  readonly network: NetworkLockKind<Address>;
}
