import type { VNode } from "preact";
import { isOpen, isRelease, type Operation } from "../../../../domain/payment/operation";
import type { Payment } from "../../../../domain/payment/payment";
import { h } from "../../html/h";
import { inCurrency } from "../../html/money";
import { lastThatFit, lengthInPage } from "../../html/lengths";
import { badge, code, stored } from "../../html/parts";
import { duration, when } from "../../html/times";
import { operationStatus, operationTone } from "../payment-words";
import { eventDetails, eventTitle, isLoud, type ShownEvent } from "./event-words";
import { timeScale } from "./time-scale";

/** Characters of a page: the rest of it needs some ten thousand. */
const MOST_OF_ALL = 32_000;
const MOST_OF_ONE = 24_000;
const OF_AN_OPERATION = 1_300;
const OF_AN_EVENT = 260;

/** Each operation as a bar from its intent to its end, with everything that happened to it. Failures are loud. */
export function storyOf(payment: Payment, events: readonly ShownEvent[], now: Date): VNode {
  const { operations } = payment.facts;
  const ofThem = (id: string) => events.filter(({ data }) => data["operationId"] === id);
  const shown = lastThatFit(
    operations,
    ({ id, failureReason }) =>
      OF_AN_OPERATION + lengthInPage(failureReason ?? "") + Math.min(lengthOfAll(ofThem(id)), MOST_OF_ONE),
    MOST_OF_ALL,
  );
  const endOf = (operation: Operation) =>
    operation.settledAt ?? (isOpen(operation) ? now : operation.createdAt);
  const placeOf = timeScale(shown.flatMap((operation) => [operation.createdAt, endOf(operation)]));
  const ofNone = events.filter(({ data }) => !shown.some(({ id }) => id === data["operationId"]));
  const isOfThem = (event: ShownEvent) => !operations.some(({ id }) => id === event.data["operationId"]);
  return h(
    "div",
    null,
    shown.length < operations.length
      ? h("p", { class: "help" }, `The last ${shown.length} of ${operations.length} operations.`)
      : null,
    h(
      "ol",
      { class: "story" },
      shown.map((operation) => {
        const bar = { from: placeOf(operation.createdAt), to: placeOf(endOf(operation)) };
        return operationOf(payment, operation, ofThem(operation.id), bar, endOf(operation));
      }),
    ),
    ofNone.some(isOfThem) ? h("h3", null, "The payment itself") : null,
    eventList(ofNone.filter(isOfThem)),
  );
}

function operationOf(
  { facts }: Payment,
  operation: Operation,
  events: readonly ShownEvent[],
  bar: { readonly from: number; readonly to: number },
  end: Date,
): VNode {
  const tone = operationTone(operation);
  const tookMs = end.getTime() - operation.createdAt.getTime();
  const took = isOpen(operation) ? `open for ${duration(tookMs)}` : `took ${duration(tookMs)}`;
  return h(
    "li",
    { class: `operation ${tone}`, id: operation.id },
    h(
      "header",
      null,
      h(
        "h3",
        null,
        isRelease(operation) ? "release" : operation.kind,
        " ",
        inCurrency(operation.amount, facts.amount),
      ),
      badge(operationStatus(operation), tone),
      operation.origin === "gateway" ? badge("made at the gateway", "plain") : null,
      operation.attempts > 0 ? h("span", { class: "help" }, `asked ${operation.attempts} times`) : null,
      h("span", { class: "took" }, when(operation.createdAt), ` · ${took}`),
    ),
    h(
      "svg",
      { class: "track", viewBox: "0 0 1000 14", preserveAspectRatio: "none", "aria-hidden": true },
      h("rect", { class: "rail", x: 0, y: 6, width: 1000, height: 2 }),
      h("rect", {
        class: `bar ${tone}`,
        x: Math.min(990, Math.round(bar.from * 1000)),
        y: 2,
        width: Math.max(10, Math.round((bar.to - bar.from) * 1000)),
        height: 10,
        rx: 3,
      }),
    ),
    operation.failureReason === null
      ? null
      : h(
          "p",
          null,
          h("strong", null, operation.failureCode ?? "failed"),
          ": ",
          stored(operation.failureReason),
        ),
    eventList(events),
    h(
      "p",
      { class: "help" },
      "Operation ",
      code(operation.id),
      operation.gatewayReference === null ? null : [", gateway reference ", code(operation.gatewayReference)],
      operation.idempotencyKey === null ? null : [", idempotency key ", code(operation.idempotencyKey)],
    ),
  );
}

function eventList(events: readonly ShownEvent[]): VNode | null {
  if (events.length === 0) return null;
  const shown = lastThatFit(events, lengthOf, MOST_OF_ONE);
  return h(
    "ol",
    { class: "events" },
    shown.length === events.length
      ? null
      : h("li", { class: "help" }, `${events.length - shown.length} events before these`),
    shown.map((event) =>
      h(
        "li",
        null,
        when(new Date(event.at)),
        h(
          "div",
          null,
          h("strong", { class: isLoud(event) ? "loud" : undefined }, eventTitle(event)),
          eventDetails(event).map((line) => h("span", { class: "why" }, stored(line))),
        ),
      ),
    ),
  );
}

function lengthOf(event: ShownEvent): number {
  return eventDetails(event).reduce((sum, line) => sum + 40 + lengthInPage(line), OF_AN_EVENT);
}

function lengthOfAll(events: readonly ShownEvent[]): number {
  return events.reduce((sum, event) => sum + lengthOf(event), 0);
}
