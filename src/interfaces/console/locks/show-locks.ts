import { h } from "../html/h";
import type { LockQueue } from "../../../application/ports/lock-queues";
import { code, heading, stored, storedOr, table } from "../html/parts";
import { ago } from "../html/times";
import type { ConsoleRoute } from "../serving/console-route";

/** A lock is held for moments: more than this at once is a table that nobody reads. */
const SHOWN = 100;
const REFRESH_SECONDS = 5;

export const showLocks: ConsoleRoute = {
  method: "get",
  path: "/locks",
  access: "operator",
  handle({ now }, { lockQueues }) {
    const all = [...lockQueues.queues()].sort(
      (a, b) => b.waiting - a.waiting || (a.resourceId < b.resourceId ? -1 : 1),
    );
    const content = h(
      "div",
      null,
      heading("Locks", h("p", { class: "help", "data-loaded": true }, "As of now")),
      h(
        "p",
        { class: "lead" },
        "What requests of this instance hold or wait for. A lock is broken on the command line, with ",
        code("holdfast locks break"),
        ", where it is certain who holds it.",
      ),
      h(
        "section",
        { class: "card" },
        table<LockQueue>(
          "Locks of this instance",
          [
            { name: "Lock", of: ({ resourceId }) => lockName(resourceId) },
            { name: "Held for", of: ({ holder }) => storedOr(holder?.purpose ?? null, "changing hands") },
            { name: "By", of: ({ holder }) => holderOf(holder) },
            {
              name: "Since",
              of: ({ holder }) => (holder?.since === undefined ? "–" : ago(holder.since, now)),
            },
            { name: "Waiting", isNumber: true, of: ({ waiting }) => waiting },
          ],
          all.slice(0, SHOWN),
          "No request of this instance holds a lock, or waits for one.",
        ),
        all.length > SHOWN ? h("p", { class: "help" }, `and ${all.length - SHOWN} more`) : null,
      ),
    );
    return { title: "Locks", section: "locks", content, refresh: REFRESH_SECONDS };
  },
};

function lockName(resourceId: string) {
  const payment = /^payment:([0-9a-f-]{36})$/.exec(resourceId)?.[1];
  return payment === undefined
    ? stored(resourceId)
    : h("a", { href: `/console/payments/${payment}` }, code(resourceId));
}

function holderOf(holder: LockQueue["holder"]) {
  if (holder === undefined) return "–";
  const process = holder.pid === undefined ? null : `process ${holder.pid}`;
  return stored([process, holder.host].filter(Boolean).join(" on ") || (holder.ownerId ?? "this instance"));
}
