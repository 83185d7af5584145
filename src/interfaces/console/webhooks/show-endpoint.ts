import type { VNode } from "preact";
import type {
  DeliveryStatus,
  WebhookDelivery,
} from "../../../application/ports/events/webhook-delivery-store";
import type { WebhookEndpoint } from "../../../domain/webhooks/webhook-endpoint";
import { actionForm, button, confirmed, field } from "../html/forms";
import { h } from "../html/h";
import { shortened } from "../html/lengths";
import { badge, card, code, factList, heading, notice, pager, stored, storedOr, table } from "../html/parts";
import { when } from "../html/times";
import type { ConsoleRoute, Visit } from "../serving/console-route";
import { endpointBadge } from "./list-endpoints";
import { oneEndpoint } from "./one-endpoint";

const PAGE = 20;
/** Of what may have 2,048 characters; the API tells all of them. */
const MOST_OF_AN_ADDRESS = 1_000;
const ANSWER_LENGTH = 120;
const REFRESH_SECONDS = 10;
const tones = { pending: "wait", delivered: "good", failed: "bad" } as const satisfies Record<
  DeliveryStatus,
  string
>;

/** What was done just before, by the word that the address has for it. */
const DONE: Readonly<Record<string, string>> = {
  tested: "A test event is on its way: it appears among the deliveries.",
  redelivered: "The delivery is made once more, with the same id and body.",
  replayed: "The events of that time are delivered once more.",
  disabled: "Nothing is sent to this endpoint from now on.",
  enabled: "The endpoint is listening again.",
};

export const showEndpoint: ConsoleRoute = {
  method: "get",
  path: "/webhooks/:endpointId",
  access: "merchant",
  async handle(visit, parts) {
    const { endpoint, merchant, webhooks } = await oneEndpoint(visit, parts);
    const { query, caller } = visit;
    const { cursor } = query;
    const page = await webhooks.webhookDeliveries.list(endpoint.id, merchant, {
      limit: PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    const done = DONE[query["done"] ?? ""];
    const content = h(
      "div",
      null,
      heading(stored(shortened(endpoint.url)), endpointBadge(endpoint)),
      done === undefined ? null : notice("good", h("p", null, done)),
      card("Endpoint", facts(endpoint)),
      card("Actions", actions(visit, endpoint)),
      card(
        "Deliveries",
        table<WebhookDelivery>(
          "Deliveries, newest first",
          [
            { name: "Made", of: ({ createdAt }) => when(createdAt) },
            { name: "Event", of: ({ eventType }) => stored(eventType) },
            { name: "State", of: ({ status }) => badge(status, tones[status]) },
            { name: "Attempts", isNumber: true, of: ({ attempts }) => attempts },
            { name: "Next attempt", of: ({ dueAt }) => (dueAt === null ? "–" : when(dueAt)) },
            { name: "Last answer", of: ({ lastAttempt }) => lastAnswer(lastAttempt, caller.operator) },
            { name: "Again", of: (delivery) => again(visit, endpoint, delivery) },
          ],
          page.data,
          "Nothing was delivered yet. What was settled is kept for 30 days.",
        ),
        pager(`/console/webhooks/${endpoint.id}`, cursor === undefined ? {} : { cursor }, page.nextCursor),
      ),
    );
    const isMoving = page.data.some(({ status }) => status === "pending");
    return {
      title: "Webhook endpoint",
      section: "webhooks",
      content,
      ...(isMoving ? { refresh: REFRESH_SECONDS } : {}),
    };
  },
};

function facts({
  id,
  url,
  merchant,
  types,
  description,
  ordered,
  disabled,
  failing,
  secrets,
  createdAt,
}: WebhookEndpoint): VNode {
  return factList([
    ["Id", code(id)],
    ["Address", stored(shortened(url, MOST_OF_AN_ADDRESS))],
    ["Merchant", stored(merchant)],
    ["Events", types === null ? "all" : types.map((type, index) => [index === 0 ? "" : ", ", stored(type)])],
    ["Description", storedOr(description)],
    ["Order", ordered ? "one payment's events after each other" : "as they come"],
    ["Made", when(createdAt)],
    ["Disabled", disabled === null ? null : [when(disabled.at), ` (${disabled.reason})`]],
    ["Failing since", failing === null ? null : when(failing.since)],
    ["Former secret valid until", secrets.previous === null ? null : when(secrets.previous.until)],
  ]);
}

function actions(visit: Visit, { id, disabled }: WebhookEndpoint): VNode {
  const at = `/console/webhooks/${id}`;
  const isEnabled = disabled === null;
  return h(
    "div",
    null,
    isEnabled
      ? confirmed(
          "Send a test event",
          "An event of type webhook_endpoint.test goes the way of every other: signed, and tried again if need be.",
          actionForm(visit, `${at}/test`, {}, button("Send the test event")),
        )
      : null,
    isEnabled
      ? confirmed(
          "Replay",
          "All events between these times, of the types that the endpoint wants now, are delivered once more, each with its own id.",
          actionForm(
            visit,
            `${at}/replay`,
            {},
            h(
              "div",
              { class: "actions" },
              field("From (UTC)", "from", { type: "datetime-local", required: true, step: 1 }),
              field("To (UTC)", "to", { type: "datetime-local", required: true, step: 1 }),
            ),
            button("Replay these events"),
          ),
        )
      : null,
    confirmed(
      "Rotate the secret",
      "A new secret is shown once. For a day, deliveries are signed with both, so that the receiver can be taught the new one.",
      actionForm(visit, `${at}/rotate`, {}, button("Rotate the secret")),
    ),
    isEnabled
      ? confirmed(
          "Disable",
          "Nothing is sent from then on, and what happens meanwhile is not kept for this endpoint: it can be replayed later.",
          actionForm(visit, `${at}/disable`, {}, button("Disable the endpoint", "danger")),
        )
      : confirmed(
          "Enable",
          "Events are delivered again, beginning with what waits. What happened meanwhile can be replayed.",
          actionForm(visit, `${at}/enable`, {}, button("Enable the endpoint")),
        ),
  );
}

function lastAnswer(last: WebhookDelivery["lastAttempt"], isOperator: boolean) {
  if (last === null) return "–";
  const what =
    last.status === null ? (last.failure ?? "no answer").replaceAll("_", " ") : `status ${last.status}`;
  const said = isOperator && last.answer !== "" ? last.answer.slice(0, ANSWER_LENGTH) : null;
  return [`${what}, ${last.tookMs} ms`, said === null ? null : h("div", { class: "help" }, stored(said))];
}

function again(visit: Visit, endpoint: WebhookEndpoint, { id, status }: WebhookDelivery) {
  if (status === "pending" || endpoint.disabled !== null) return "–";
  return actionForm(
    visit,
    `/console/webhooks/${endpoint.id}/redeliver`,
    { delivery: id },
    h("button", { class: "quiet", "aria-label": `Redeliver ${id}` }, "Redeliver"),
  );
}
