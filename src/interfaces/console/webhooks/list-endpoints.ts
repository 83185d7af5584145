import type { WebhookEndpoint } from "../../../domain/webhooks/webhook-endpoint";
import { h } from "../html/h";
import { shortened } from "../html/lengths";
import { badge, code, heading, pager, stored, table } from "../html/parts";
import { ago, when } from "../html/times";
import type { ConsoleRoute } from "../serving/console-route";
import { withWebhooks } from "./one-endpoint";

const PAGE = 25;

export const listEndpoints: ConsoleRoute = {
  method: "get",
  path: "/webhooks",
  access: "merchant",
  async handle({ whose, query, now }, parts) {
    const { cursor } = query;
    const { webhookEndpoints } = withWebhooks(parts);
    const page = await webhookEndpoints.list(whose, {
      limit: PAGE,
      ...(cursor === undefined ? {} : { cursor }),
    });
    const content = h(
      "div",
      null,
      heading("Webhooks"),
      h(
        "section",
        { class: "card" },
        table<WebhookEndpoint>(
          "Webhook endpoints",
          [
            {
              name: "Endpoint",
              of: ({ id, url }) => h("a", { href: `/console/webhooks/${id}` }, stored(shortened(url))),
            },
            ...(whose === null
              ? [{ name: "Merchant", of: ({ merchant }: WebhookEndpoint) => stored(merchant) }]
              : []),
            {
              name: "Events",
              of: ({ types }) =>
                types === null ? "all" : `${types.length} ${types.length === 1 ? "type" : "types"}`,
            },
            { name: "State", of: endpointBadge },
            {
              name: "Failing",
              of: ({ failing }) => (failing === null ? "–" : ["since ", ago(failing.since, now)]),
            },
            { name: "Made", of: ({ createdAt }) => when(createdAt) },
          ],
          page.data,
          ["There are no webhook endpoints. ", code("holdfast webhooks create"), " makes one."],
        ),
        pager("/console/webhooks", query, page.nextCursor),
      ),
    );
    return { title: "Webhooks", section: "webhooks", content };
  },
};

export function endpointBadge({ disabled, failing }: WebhookEndpoint) {
  if (disabled !== null) return badge(`disabled: ${disabled.reason}`, "bad");
  return failing === null ? badge("listening", "good") : badge("failing", "wait");
}
