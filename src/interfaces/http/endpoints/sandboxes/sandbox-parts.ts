import type { LockTimeoutPolicy } from "../../../../application/ports/lock-timeout";
import type { Sandboxes } from "../../../../application/sandboxes/sandboxes";
import type { ProblemCode } from "../../problems/problem-table";
import type { WaitingReaders } from "../events/waiting-readers";
import type { Lifecycle } from "../../server/lifecycle";

export interface SandboxParts {
  readonly sandboxes: Pick<
    Sandboxes,
    | "create"
    | "attach"
    | "use"
    | "useAsCustomer"
    | "show"
    | "checkpoint"
    | "delete"
    | "list"
    | "isHere"
    | "merchantOf"
  >;
  readonly lockTimeouts: LockTimeoutPolicy;
  readonly lifecycle: Lifecycle;
  readonly readers: WaitingReaders;
  readonly ownUrl: () => string;
  /** Tells the log of a failure that becomes a part of an answer, where it belongs there. */
  readonly logFailure: (error: unknown, requestId: string) => void;
}

/** What any request to one sandbox can be told. */
export const ownedProblems: readonly ProblemCode[] = [
  "invalid_sandbox_id",
  "sandbox_not_found",
  "sandbox_elsewhere",
  "sandbox_contended",
  "sandbox_lost",
  "sandbox_limit_reached",
  "snapshot_damaged",
  "snapshot_missing",
  "snapshot_store_unavailable",
  "lock_unavailable",
];
