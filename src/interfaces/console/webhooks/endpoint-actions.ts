import type { Act } from "../../../application/audit/act";
import { actBehind } from "../../http/requests/audit/act-behind";
import { parseWebhookDeliveryId } from "../../../domain/webhooks/webhook-endpoint";
import { WebhookError } from "../../../domain/webhooks/errors";
import { RequestError } from "../../http/problems/request-error";
import type { ConsoleParts } from "../console-parts";
import { h } from "../html/h";
import { heading, notice } from "../html/parts";
import type { ConsoleReply, ConsoleRoute, Visit } from "../serving/console-route";
import { oneEndpoint, type TheirEndpoint } from "./one-endpoint";

const DAY_SECONDS = 86_400;

export const endpointActions: readonly ConsoleRoute[] = [
  action("test", async ({ endpoint, merchant, webhooks }, visit) => {
    await webhooks.webhookDeliveries.test(endpoint.id, merchant, actOf(visit));
    return done(endpoint.id, "tested");
  }),
  action("redeliver", async ({ endpoint, merchant, webhooks }, visit) => {
    const { form } = visit;
    const id = parseWebhookDeliveryId(form["delivery"] ?? "");
    // Of this endpoint, and not of another one of the same merchant.
    if ((await webhooks.webhookDeliveries.endpointOf(id)) !== endpoint.id) {
      throw new WebhookError("webhook_delivery_not_found", `There is no webhook delivery ${id}.`);
    }
    await webhooks.webhookDeliveries.redeliver(id, merchant, actOf(visit));
    return done(endpoint.id, "redelivered");
  }),
  action("replay", async ({ endpoint, merchant, webhooks }, visit) => {
    const { form } = visit;
    const [from, to] = [instantIn(form["from"]), instantIn(form["to"])];
    if (from > to) throw new RequestError("invalid_request", "The time begins after it ends.");
    await webhooks.webhookDeliveries.replay(endpoint.id, merchant, { from, to }, actOf(visit));
    return done(endpoint.id, "replayed");
  }),
  action("disable", async ({ endpoint, merchant, webhooks }, visit) => {
    await webhooks.webhookEndpoints.change(endpoint.id, merchant, { enabled: false }, actOf(visit));
    return done(endpoint.id, "disabled");
  }),
  action("enable", async ({ endpoint, merchant, webhooks }, visit) => {
    await webhooks.webhookEndpoints.change(endpoint.id, merchant, { enabled: true }, actOf(visit));
    return done(endpoint.id, "enabled");
  }),
  action("rotate", async ({ endpoint, merchant, webhooks }, visit) => {
    const { secret } = await webhooks.webhookEndpoints.rotateSecret(
      endpoint.id,
      merchant,
      DAY_SECONDS,
      actOf(visit),
    );
    const content = h(
      "div",
      null,
      heading("A new secret"),
      notice(
        "wait",
        h("p", null, "This is the only time that it is shown. Teach it to the receiver within a day."),
      ),
      h("code", { class: "secret" }, secret),
      h("p", null, h("a", { href: `/console/webhooks/${endpoint.id}` }, "Back to the endpoint")),
    );
    return { title: "A new secret", section: "webhooks", content };
  }),
];

function action(
  name: string,
  work: (theirs: TheirEndpoint, visit: Visit) => Promise<ConsoleReply>,
): ConsoleRoute {
  return {
    method: "post",
    path: `/webhooks/:endpointId/${name}`,
    access: "merchant",
    handle: async (visit: Visit, parts: ConsoleParts) => work(await oneEndpoint(visit, parts), visit),
  };
}

function actOf({ request, response }: Visit): Act {
  return actBehind(request, response);
}

function done(id: string, what: string): ConsoleReply {
  return { to: `/console/webhooks/${id}?done=${what}` };
}

/** As a browser's field gives it, in UTC. */
function instantIn(text: string | undefined): Date {
  const instant = new Date(`${text ?? ""}Z`);
  if (/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2})?$/.test(text ?? "") && !Number.isNaN(instant.getTime()))
    return instant;
  throw new RequestError("invalid_request", "A time is written as in 2026-03-04T12:00:00.");
}
