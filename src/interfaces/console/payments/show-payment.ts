import type { VNode } from "preact";
import { parseOperationId } from "../../../domain/identifiers";
import { formatMoney } from "../../../domain/money";
import { isInReview, isOpen } from "../../../domain/payment/operation";
import { endOf } from "../../../domain/payment/expiry";
import {
  amountCaptured,
  amountRefunded,
  operationOf,
  visibleStatus,
  type Payment,
} from "../../../domain/payment/payment";
import type { SeenDispute } from "../../../domain/payment/picture/gateway-picture";
import { presentEvent, presentEventToMerchant } from "../../http/endpoints/payments/present-event";
import { button, field } from "../html/forms";
import { h } from "../html/h";
import { inCurrency, plainAmount } from "../html/money";
import { lastThatFit, lengthInPage } from "../html/lengths";
import { badge, card, code, factList, heading, notice, stored, storedOr, table } from "../html/parts";
import { when } from "../html/times";
import type { ConsoleRoute, Visit } from "../serving/console-route";
import { movements, type ConsoleMovement } from "./movements";
import { onePayment } from "./one-payment";
import { paymentTone } from "./payment-words";
import { storyOf } from "./story/story-of-payment";

/** One page tells a whole story; what is longer is told by the command line. */
const EVENTS = 200;
const METADATA_CHARACTERS = 8_000;
const OPEN_REFRESH_SECONDS = 5;

export const showPayment: ConsoleRoute = {
  method: "get",
  path: "/payments/:paymentId",
  access: "merchant",
  async handle(visit, parts) {
    const payment = await onePayment(visit, parts);
    const { facts } = payment;
    const { data: events, nextCursor } = await parts.readPayments.history(facts.id, visit.whose, {
      limit: EVENTS,
    });
    const present = visit.caller.operator ? presentEvent : presentEventToMerchant;
    const isOpenNow = facts.operations.some(isOpen);
    const content = h(
      "div",
      null,
      heading(
        formatMoney(facts.amount),
        badge(visibleStatus(payment).replace("_", " "), paymentTone(payment)),
        h("span", { class: "help" }, code(facts.id)),
      ),
      outcome(visit, payment),
      reviewsOf(visit, payment),
      card("Totals", totals(payment)),
      actions(visit, payment),
      card(
        "Story",
        storyOf(payment, events.map(present), visit.now),
        nextCursor === null
          ? null
          : h(
              "p",
              { class: "help" },
              `The first ${EVENTS} events are shown; `,
              code("holdfast payments show"),
              " has all.",
            ),
      ),
      disputes(payment),
      metadataOf(payment),
    );
    return {
      title: `Payment ${formatMoney(facts.amount)}`,
      section: "payments",
      content,
      ...(isOpenNow ? { refresh: OPEN_REFRESH_SECONDS } : {}),
    };
  },
};

/** Of what was just sent, as the store has it: an address that somebody made up shows nothing that is not so. */
function outcome({ query }: Visit, payment: Payment): VNode | null {
  const { done } = query;
  if (done === undefined) return null;
  const operation = operationOf(payment, parseOperationId(done));
  if (operation === undefined) return null;
  const amount = inCurrency(operation.amount, payment.facts.amount);
  const movement = movements.find(({ name }) => name === operation.kind);
  if (operation.status === "succeeded")
    return notice("good", h("p", null, `${movement?.done ?? "Done:"} ${amount}.`));
  if (isOpen(operation)) {
    return notice(
      "wait",
      h(
        "p",
        null,
        `The ${operation.kind} of ${amount} was sent, and the gateway has not confirmed it yet. It is asked until it does: ` +
          "nothing needs to be sent again.",
      ),
    );
  }
  return notice(
    "bad",
    h("p", null, `The ${operation.kind} of ${amount} did not happen: `, storedOr(operation.failureReason)),
  );
}

function reviewsOf({ caller }: Visit, { facts }: Payment): VNode | null {
  const inReview = facts.operations.filter(isInReview);
  if (inReview.length === 0) return null;
  return notice(
    "bad",
    h(
      "p",
      null,
      "A person has to decide about ",
      inReview.map(({ id, kind }, index) => [
        index === 0 ? "" : ", ",
        caller.operator ? h("a", { href: `/console/reviews/${id}` }, `the ${kind}`) : `the ${kind}`,
      ]),
      ".",
    ),
  );
}

function totals(payment: Payment): VNode {
  const { facts } = payment;
  return factList([
    ["Captured", inCurrency(amountCaptured(payment), facts.amount)],
    ["Refunded", inCurrency(amountRefunded(payment), facts.amount)],
    ["Merchant", stored(facts.merchant)],
    ["Reference", storedOr(facts.reference)],
    ["Payment method", storedOr(facts.paymentMethod, "authorized elsewhere")],
    ["Gateway reference", storedOr(facts.authorizationReference, "not known yet")],
    ["Gateway account", facts.gatewayAccount === null ? null : stored(facts.gatewayAccount)],
    ["Created", when(facts.createdAt)],
    ["Authorized until", when(endOf(payment))],
  ]);
}

function actions({ caller }: Visit, payment: Payment): VNode | null {
  const possible = movements.filter((movement) => movement.most(payment) !== null);
  if (possible.length === 0 && !caller.operator) return null;
  return card(
    "Actions",
    h(
      "div",
      { class: "actions" },
      possible.map((movement) => actionOf(payment, movement)),
      caller.operator
        ? h(
            "form",
            { method: "get", action: `/console/payments/${payment.facts.id}/observe` },
            button("Ask the gateway…", "quiet"),
          )
        : null,
    ),
    h("p", { class: "help" }, "Each says what it will do, and asks once more."),
  );
}

function actionOf(payment: Payment, movement: ConsoleMovement): VNode {
  const { facts } = payment;
  const most = movement.most(payment) ?? 0n;
  return h(
    "form",
    { class: "row", method: "get", action: `/console/payments/${facts.id}/${movement.name}` },
    movement.takesAmount
      ? field(`${movement.title} (${facts.amount.currency})`, "amount", {
          id: `field-${movement.name}`,
          value: plainAmount(most, facts.amount),
          inputmode: "decimal",
          size: 10,
          "aria-label": `Amount to ${movement.name}, in ${facts.amount.currency}`,
        })
      : null,
    button(`${movement.title}…`, movement.isDangerous ? "quiet" : "main"),
  );
}

function metadataOf({ facts }: Payment): VNode | null {
  const all = Object.entries(facts.metadata);
  if (all.length === 0) return null;
  const lengthOf = ([name, value]: readonly [string, string]) =>
    80 + lengthInPage(name) + lengthInPage(value);
  const shown = lastThatFit(all, lengthOf, METADATA_CHARACTERS);
  return card(
    "Metadata",
    factList(shown.map(([name, value]) => [stored(name) as never, stored(value)])),
    shown.length === all.length
      ? null
      : h(
          "p",
          { class: "help" },
          `${all.length - shown.length} more: `,
          code("holdfast payments show"),
          " has all.",
        ),
  );
}

function disputes({ facts }: Payment): VNode | null {
  if (facts.disputes.length === 0) return null;
  return card(
    "Disputes",
    table<SeenDispute>(
      "Disputes",
      [
        { name: "Dispute", of: ({ id }) => code(id) },
        {
          name: "Status",
          of: ({ status }) => badge(status.replace("_", " "), status === "won" ? "good" : "bad"),
        },
        { name: "Amount", isNumber: true, of: ({ amount }) => inCurrency(amount, facts.amount) },
        { name: "Reason", of: ({ reason }) => stored(reason) },
        { name: "Answer by", of: ({ dueBy }) => (dueBy === null ? "–" : when(dueBy)) },
      ],
      facts.disputes,
      "None.",
    ),
  );
}
