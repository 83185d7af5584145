import type { SandboxEventType, SandboxObserver } from "../../application/sandboxes/sandbox-events";
import type { LockLogger } from "./lock-log";

/** What is lost, or kept although it should have ended, comes first. */
const LEVELS: Record<SandboxEventType, "warn" | "info"> = {
  lost: "warn",
  kept: "warn",
  checkpoint_failed: "warn",
  created: "info",
  attached: "info",
  checkpointed: "info",
  handed_over: "info",
  unloaded: "info",
  deleted: "info",
};

/** Writes a sandbox's own life as structured lines. What happens in it is its merchant's. */
export function sandboxLog(logger: LockLogger): SandboxObserver {
  return {
    notify: ({ type, at: _at, fence, error, ...facts }) =>
      logger[LEVELS[type]](
        {
          event: type,
          ...facts,
          fencingToken: fence.toString(),
          ...(error === undefined ? {} : { err: error }),
        },
        `sandbox ${type.replaceAll("_", " ")}`,
      ),
  };
}
