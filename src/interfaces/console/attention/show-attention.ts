import type { ComponentChildren, VNode } from "preact";
import { h } from "../html/h";
import type { ReviewCase } from "../../../application/use-cases/review-operations";
import type { ReviewItem } from "../../../application/ports/payment-repository";
import { currencyExponent, formatMoney, type Currency } from "../../../domain/money";
import { isRelease } from "../../../domain/payment/operation";
import type { WebhookEndpoint } from "../../../domain/webhooks/webhook-endpoint";
import type { ConsoleParts } from "../console-parts";
import { shortened } from "../html/lengths";
import { card, heading, stored, table, type Tone } from "../html/parts";
import { ago, duration } from "../html/times";
import type { ConsoleRoute, Visit } from "../serving/console-route";
import { barChart } from "./bar-chart";

/** Of each list: what has waited longest. The pages behind have the rest. */
const SHOWN = 10;
const REFRESH_SECONDS = 15;

/** What an operator looks at first: what waits for a person, and what is not as it should be. */
export const showAttention: ConsoleRoute = {
  method: "get",
  path: "/",
  access: "merchant",
  async handle(visit, parts) {
    const { caller, whose, now } = visit;
    const [reviews, count, unknown, disabled] = await Promise.all([
      caller.operator ? parts.reviewOperations.list({ limit: SHOWN }) : null,
      caller.operator ? parts.reviewOperations.count() : 0,
      parts.readPayments.unknown(whose, SHOWN),
      parts.webhooks?.webhookEndpoints.list(whose, { limit: SHOWN, disabled: true }),
    ]);
    const cases = reviews?.data ?? [];
    const oldest = unknown[0];
    const content = h(
      "div",
      null,
      heading("Attention", h("p", { class: "help", "data-loaded": true }, "As of now")),
      h(
        "div",
        { class: "tiles" },
        caller.operator ? tile(count, "in review", "/console/reviews", count > 0 ? "bad" : "good") : null,
        tile(
          oldest === undefined ? "None" : duration(now.getTime() - oldest.createdAt.getTime()),
          "oldest unknown outcome",
          "#unknown",
          oldest === undefined ? "good" : "wait",
        ),
        tile(
          disabled?.data.length ?? 0,
          "disabled endpoints",
          "#disabled",
          (disabled?.data.length ?? 0) > 0 ? "bad" : "good",
        ),
        caller.operator
          ? tile(parts.recent.lostLocks, "locks lost in an hour", "/console/locks", lossTone(parts))
          : null,
      ),
      caller.operator ? card("Waiting for a decision", reviewTable(cases, now)) : null,
      h("div", { id: "unknown" }, card("Outcome unknown", unknownTable(unknown, visit))),
      disabled === undefined
        ? null
        : h("div", { id: "disabled" }, card("Disabled webhook endpoints", endpointTable(disabled.data, now))),
      caller.operator ? charts(parts) : null,
    );
    return { title: "Attention", section: "attention", content, refresh: REFRESH_SECONDS };
  },
};

function lossTone({ recent }: ConsoleParts): Tone {
  return recent.lostLocks > 0 ? "bad" : "good";
}

function tile(figure: ComponentChildren, name: string, href: string, tone: Tone): VNode {
  return h("a", { class: `tile ${tone}`, href }, h("strong", null, figure), h("span", null, name));
}

function reviewTable(cases: readonly ReviewCase[], now: Date): VNode {
  return table<ReviewCase>(
    "Operations in review, oldest first",
    [
      { name: "Since", of: ({ since }) => ago(since, now) },
      {
        name: "Operation",
        of: ({ operation, operationId }) =>
          h(
            "a",
            { href: `/console/reviews/${operationId}` },
            isRelease(operation) ? "refused release" : operation.kind,
          ),
      },
      { name: "Merchant", of: ({ merchant }) => stored(merchant) },
      { name: "Amount", isNumber: true, of: amountOf },
      { name: "Why", of: ({ reason }) => stored(shortened(reason)) },
    ],
    cases,
    "No operation waits for a person.",
  );
}

function amountOf({ amount, currency, currencyExponent: exponent }: ReviewCase): string {
  return formatMoney({ amount, currency: currency as Currency, exponent });
}

function unknownTable(unknown: readonly ReviewItem[], { caller, now }: Visit): VNode {
  return table<ReviewItem>(
    "Operations whose outcome is unknown, oldest first",
    [
      { name: "Since", of: ({ createdAt }) => ago(createdAt, now) },
      {
        name: "Operation",
        of: ({ kind, paymentId, operationId }) =>
          h("a", { href: `/console/payments/${paymentId}#${operationId}` }, kind),
      },
      ...(caller.operator ? [{ name: "Merchant", of: ({ merchant }: ReviewItem) => stored(merchant) }] : []),
      {
        name: "Amount",
        isNumber: true as const,
        of: ({ amount, currency }: ReviewItem) =>
          formatMoney({
            amount,
            currency: currency as Currency,
            exponent: currencyExponent(currency as Currency),
          }),
      },
    ],
    unknown,
    "The gateway has answered every operation, or is being asked for the first time.",
  );
}

function endpointTable(endpoints: readonly WebhookEndpoint[], now: Date): VNode {
  return table<WebhookEndpoint>(
    "Disabled webhook endpoints",
    [
      {
        name: "Endpoint",
        of: ({ id, url }) => h("a", { href: `/console/webhooks/${id}` }, stored(shortened(url))),
      },
      { name: "Merchant", of: ({ merchant }) => stored(merchant) },
      { name: "Since", of: ({ disabled }) => (disabled === null ? "–" : ago(disabled.at, now)) },
      { name: "Why", of: ({ disabled }) => disabled?.reason ?? "–" },
    ],
    endpoints,
    "Every endpoint is listening.",
  );
}

/** Of this instance alone: a fleet is looked at by its metrics. */
function charts({ recent }: ConsoleParts): VNode {
  const minutes = recent.shown();
  const { p99Ms } = recent;
  const captures = minutes.reduce((sum, one) => sum + one.captures, 0);
  const refusals = minutes.reduce((sum, one) => sum + one.refusals, 0);
  return h(
    "div",
    { class: "columns" },
    card(
      "Captures a minute",
      barChart(
        minutes.map((one) => one.captures),
        `${captures} captures in the last hour, minute by minute`,
      ),
      h("p", { class: "help" }, `${captures} in the last hour, on this instance`),
    ),
    card(
      "Slowest 1% of requests that move money",
      barChart(
        minutes.map((one) => one.p99Ms ?? 0),
        `p99 of the last hour: ${p99Ms === null ? "no requests" : `${p99Ms} ms`}`,
      ),
      h(
        "p",
        { class: "help" },
        p99Ms === null ? "No requests yet" : `p99 of the last hour: at most ${duration(p99Ms)}`,
      ),
    ),
    card(
      "Refused or failed",
      barChart(
        minutes.map((one) => one.refusals),
        `${refusals} refusals in the last hour, minute by minute`,
        "bad",
      ),
      h("p", { class: "help" }, `${refusals} requests that move money, in the last hour`),
    ),
  );
}
