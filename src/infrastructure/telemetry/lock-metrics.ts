import { Counter, Histogram, type PrometheusContentType, type Registry } from "prom-client";
import type { LockEvent, LockObserver } from "../../application/ports/lock-observer";

/** By adapter and scope: both are few, whatever ids callers lock. */
const labelNames = ["adapter", "scope"] as const;

/** From the uncontended lock in memory to the longest default budget. */
const WAIT_BUCKETS_S = [0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 60, 600];
const HOLD_BUCKETS_S = [0.001, 0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 600, 3600];

/** Counts what happens to locks, for Prometheus. */
export function lockMetrics(registry: Registry<PrometheusContentType>): LockObserver {
  const registers = [registry];
  const counter = (name: string, help: string): Counter<(typeof labelNames)[number]> =>
    new Counter({ name: `holdfast_lock_${name}_total`, help, labelNames, registers });
  const histogram = (name: string, help: string, buckets: number[]): Histogram<(typeof labelNames)[number]> =>
    new Histogram({ name: `holdfast_lock_${name}_seconds`, help, labelNames, buckets, registers });

  const wait = histogram("wait", "Time from requesting a lock to acquiring it", WAIT_BUCKETS_S);
  const hold = histogram("hold", "Time from acquiring a lock to the end of its section", HOLD_BUCKETS_S);
  const contended = counter("contended", "Requests for a lock that another caller held");
  const timeouts = counter("timeouts", "Waits that reached their time limit");
  const cancellations = counter("cancellations", "Waits that the caller cancelled");
  const unavailable = counter("unavailable", "Waits that ended because the lock backend did not answer");
  const lost = counter("lost", "Locks that ended before their section did");

  const notify = (event: LockEvent): void => {
    const labels = { adapter: event.adapter, scope: event.scope ?? "none" };
    switch (event.type) {
      case "acquired":
        wait.observe(labels, event.elapsedMs / 1000);
        if (event.contended) contended.inc(labels);
        return;
      case "released":
        hold.observe(labels, event.elapsedMs / 1000);
        return;
      case "timed_out":
        timeouts.inc(labels);
        contended.inc(labels);
        return;
      case "cancelled":
        cancellations.inc(labels);
        return;
      case "unavailable":
        unavailable.inc(labels);
        return;
      case "lost":
        lost.inc(labels);
        return;
      // What happens on the way is for the log; what counts is how it ended.
      case "wait_started":
      case "retried":
      case "progressed":
      case "renewed":
      case "handoff_requested":
      case "kept":
        return;
    }
  };
  return { notify };
}
