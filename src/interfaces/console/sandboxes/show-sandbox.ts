import { presentSandbox } from "../../http/endpoints/sandboxes/present-sandbox";
import { actionForm, button, confirmed, field } from "../html/forms";
import { h } from "../html/h";
import { badge, card, code, factList, heading, notice, stored, storedOr, table } from "../html/parts";
import { when } from "../html/times";
import type { ConsoleRoute, Visit } from "../serving/console-route";
import { oneSandbox } from "./one-sandbox";

type Shown = ReturnType<typeof presentSandbox>;

const DONE: Readonly<Record<string, string>> = {
  moved: "The clock was moved. What fell due on the way has happened.",
  checkpointed: "A snapshot was taken. It is kept until the sandbox is deleted.",
  made: "The sandbox is ready.",
};

export const showSandbox: ConsoleRoute = {
  method: "get",
  path: "/sandboxes/:sandboxId",
  access: "merchant",
  async handle(visit, parts) {
    const { id, merchant, sandboxes } = await oneSandbox(visit, parts);
    const shown = await sandboxes.show(id, merchant, presentSandbox);
    const done = DONE[visit.query["done"] ?? ""];
    const content = h(
      "div",
      null,
      heading(
        ["Sandbox ", code(id)],
        shown.unsaved ? badge("unsaved changes", "wait") : badge("saved", "good"),
      ),
      done === undefined ? null : notice("good", h("p", null, done)),
      card(
        "World",
        factList([
          ["Merchant", stored(merchant)],
          ["Clock", when(new Date(shown.clock))],
          ["Payments", shown.counts.payments],
          ["Owner", stored(shown.ownerUrl)],
          ["Owned since", when(new Date(shown.lease.since))],
          ["Fencing token", code(shown.lease.fencingToken)],
          ["Another instance waits for it", shown.waiter ? "yes" : "no"],
        ]),
      ),
      card("Actions", actions(visit, id)),
      card(
        "Snapshots",
        table<Shown["snapshots"][number]>(
          "Snapshots",
          [
            { name: "Taken", of: ({ createdAt }) => when(new Date(createdAt)) },
            { name: "Snapshot", of: (one) => code(one.id) },
            { name: "Size", isNumber: true, of: ({ bytes }) => `${bytes} bytes` },
            { name: "Kept", of: ({ kept }) => (kept ? "yes" : "until the next ones") },
            {
              name: "Start from it",
              of: (one) =>
                actionForm(
                  visit,
                  `/console/sandboxes/${id}/start`,
                  { snapshot: one.id },
                  h(
                    "button",
                    { class: "quiet", "aria-label": `Start a sandbox from ${one.id}` },
                    "Start a sandbox",
                  ),
                ),
            },
          ],
          shown.snapshots,
          "There is no snapshot yet.",
        ),
      ),
      card(
        "What happened to it",
        table<Shown["events"][number]>(
          "Events of the sandbox",
          [
            { name: "At", of: ({ at }) => when(new Date(at)) },
            { name: "Event", of: ({ type }) => type.replaceAll("_", " ") },
            { name: "Why", of: ({ reason }) => storedOr(reason ?? null) },
          ],
          shown.events,
          "Nothing yet.",
        ),
      ),
    );
    return { title: "Sandbox", section: "sandboxes", content };
  },
};

function actions(visit: Visit, id: string) {
  const at = `/console/sandboxes/${id}`;
  return h(
    "div",
    null,
    confirmed(
      "Move the clock",
      "Forward only. Whatever falls due on the way happens at its own time: expiries, questions to the gateway, webhooks.",
      actionForm(
        visit,
        `${at}/clock`,
        {},
        field("Hours", "hours", { type: "number", min: 1, max: 87_840, value: 24, required: true }),
        button("Move the clock forward"),
      ),
    ),
    confirmed(
      "Take a snapshot",
      "The sandbox is saved as it is now. The snapshot is kept until the sandbox is deleted.",
      actionForm(visit, `${at}/checkpoint`, {}, button("Take a snapshot")),
    ),
  );
}
