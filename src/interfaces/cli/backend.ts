import type { Act, Done } from "../../application/audit/act";
import type { PassReport } from "../../application/background/background-pass";
import type { LockInspector } from "../../application/ports/lock-inspector";
import type { LockObserver } from "../../application/ports/lock-observer";
import type { LockProvider } from "../../application/ports/lock-provider";
import type { MigrationReport } from "../../application/ports/store-migration";
import type { ManageApiKeys } from "../../application/use-cases/manage-api-keys";
import type { ManageMerchantAccounts } from "../../application/use-cases/manage-merchant-accounts";
import type { ServerAddress } from "./client/server-client";

/** What the command line needs of the rest of the program. `main.ts` brings the two together. */
export interface Backend {
  /** Flag, environment, file and default, in that order. Throws with code `usage` or `bad_configuration`. */
  configure(flags: Flags): ConfiguredBackend;
  /** Every setting that has a flag. */
  readonly settingFlags: readonly SettingFlag[];
  readonly version: string;
}

/** By flag name, without the dashes. */
export type Flags = Readonly<Record<string, string | undefined>>;

export interface SettingFlag {
  readonly flag: string;
  readonly environment: string;
  /** Empty for a switch. */
  readonly argument: string;
  readonly describe: string;
  readonly fallback: string | null;
}

export interface ConfiguredBackend {
  entries(): readonly { readonly name: string; readonly value: string | null; readonly source: string }[];
  /**
   * Runs `work` with the store, migrated, and closes it afterwards. Only the uses for keys and merchants may do so beside a running
   * server; a command that is to wait for one that has the data brings an observer, which hears of it. Only `new-key`
   * makes a store that does not exist.
   */
  withStore<T>(
    use: StoreUse,
    work: (store: StoreCommands) => Promise<T>,
    observer?: LockObserver,
  ): Promise<T>;
  /** Refuses a store that does not exist. */
  migrate(observer: LockObserver): Promise<MigrationReport>;
  /**
   * Lends the locks of `run`, and closes them afterwards: within seconds, and at once when `enough` fires. What could not
   * be given back by then is said. Refuses those that other processes cannot see. Metrics, if somebody wants them, are told
   * under the name of the task.
   */
  withTaskLocks<T>(
    task: string,
    work: (locks: TaskLocks) => Promise<T>,
    say: (line: string) => void,
    enough: AbortSignal,
  ): Promise<T>;
  /** Lends a look at the locks that `run` would use, or that are configured. */
  withLockInspector<T>(work: (inspector: LockInspector) => Promise<T>): Promise<T>;
  /** Writes down what is done outside of the store; false where there is no store on this host. */
  noteAct(act: Act, done: Done): Promise<boolean>;
  /** The running server that client commands talk to. */
  server(): ServerAddress;
  /** Serves until a signal ends it, or throws. */
  serve(say: (line: string) => void): Promise<void>;
}

/** Locks for commands, with what only some adapters can do for a process that holds one. */
export interface TaskLocks {
  readonly provider: LockProvider;
  /** Where the locks are and who said so, for messages. */
  readonly where: string;
  /** Whether a lock can be kept for the rest of a time (`lockAtLeastFor`) when this process has ended. */
  readonly keptWithoutUs: boolean;
  /** The descriptor that keeps the lock while a child has it, too; undefined where there is no such thing. */
  inheritableFd(resourceId: string): number | undefined;
  /** Writes down that this child keeps the lock alive, where that can be written down. */
  nameChild(resourceId: string, pid: number): Promise<void>;
}

export type StoreUse = "new-key" | "keys" | "merchants" | "reconcile" | "expire";

/** What can be done on the store itself. */
export interface StoreCommands {
  readonly apiKeys: Pick<ManageApiKeys, "create" | "list" | "revoke">;
  readonly merchantAccounts: Pick<ManageMerchantAccounts, "set" | "setKey" | "unset" | "forget" | "list">;
  readonly reconcile: () => Promise<PassReport>;
  readonly expire: () => Promise<PassReport>;
}
