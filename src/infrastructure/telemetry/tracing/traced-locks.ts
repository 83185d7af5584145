import { trace, type Attributes, type Tracer } from "@opentelemetry/api";
import type { LockEvent, LockObserver } from "../../../application/ports/lock-observer";

/**
 * Waits for locks, and the sections under them, as spans of the trace that is going on. Made when they are over, since that is
 * when a lock tells how long they took: nothing is kept meanwhile.
 */
export function tracedLocks(tracer: Tracer): LockObserver {
  const ended = (name: string, event: LockEvent, attributes: Attributes): void => {
    // A lock of nobody's request, such as that of a sandbox, would be a trace without a beginning.
    if (trace.getActiveSpan() === undefined) return;
    const { adapter, scope, elapsedMs } = event;
    const span = tracer.startSpan(name, {
      startTime: new Date(Date.now() - elapsedMs),
      attributes: { "holdfast.lock.adapter": adapter, "holdfast.lock.scope": scope ?? "none", ...attributes },
    });
    span.end();
  };
  return {
    notify: (event) => {
      switch (event.type) {
        case "acquired":
          return ended("wait for lock", event, { "holdfast.lock.contended": event.contended });
        case "timed_out":
        case "cancelled":
        case "unavailable":
          return ended("wait for lock", event, { "holdfast.lock.ended": event.type });
        case "released":
          return ended("section", event, {});
        default:
          return;
      }
    },
  };
}
