import type { VNode } from "preact";
import type { ReviewHistory } from "../../../application/use-cases/review-operations";
import { formatMoney } from "../../../domain/money";
import type { GatewayStatement } from "../../../domain/payment/facts";
import { gatewayKey, isInReview, isRelease } from "../../../domain/payment/operation";
import { visibleStatus } from "../../../domain/payment/payment";
import { presentEvent } from "../../http/endpoints/payments/present-event";
import { actionForm, button, field } from "../html/forms";
import { h } from "../html/h";
import { inCurrency } from "../html/money";
import { badge, card, code, factList, heading, notice, stored, storedOr } from "../html/parts";
import { when } from "../html/times";
import { operationStatus, operationTone } from "../payments/payment-words";
import { storyOf } from "../payments/story/story-of-payment";
import type { Page, Visit } from "../serving/console-route";

const outcomes = [
  ["moved", "The money moved", "The gateway did what was asked for."],
  ["not_moved", "The money did not move", "The gateway did not do it, and will not."],
  [
    "pending",
    "Not decided at the gateway either",
    "The review goes on, and the gateway is asked again after a day.",
  ],
] as const;

/** What a verdict is based on, in short: both sides of the evidence, as far as another one could change it. */
export function basisOf({ payment, events }: ReviewHistory, seen: GatewayStatement): string {
  return `${events.length} ${visibleStatus(payment)} ${seen.outcome}`;
}

/** Both sides of the evidence, and the verdict below them. */
export function reviewPage(
  visit: Visit,
  history: ReviewHistory,
  seen: GatewayStatement,
  refusal: string | null = null,
): Page {
  const { payment, operation, events } = history;
  const { facts } = payment;
  const kind = isRelease(operation) ? "release" : operation.kind;
  const amount = inCurrency(operation.amount, facts.amount);
  const content = h(
    "div",
    null,
    heading(
      `Did the ${kind} of ${amount} happen?`,
      badge(operationStatus(operation), operationTone(operation)),
    ),
    refusal === null ? null : notice("bad", h("p", null, stored(refusal))),
    h(
      "div",
      { class: "columns" },
      card(
        "What is recorded",
        factList([
          ["Operation", operationStatus(operation)],
          ["Payment", h("a", { href: `/console/payments/${facts.id}` }, code(facts.id))],
          ["Payment is", visibleStatus(payment)],
          ["Merchant", stored(facts.merchant)],
          ["Authorized", formatMoney(facts.amount)],
          ["Begun", when(operation.createdAt)],
          ["Sent", operation.firstSentAt === null ? "never" : when(operation.firstSentAt)],
          ["Last asked", operation.askedAt === null ? "never" : when(operation.askedAt)],
        ]),
      ),
      card(
        "What the gateway says now",
        statement(seen),
        factList([
          ["Key that it was sent with", code(gatewayKey(operation))],
          ["Gateway's name for the authorization", storedOr(facts.authorizationReference, "not known")],
          ["Gateway's name for the movement", storedOr(operation.gatewayReference, "not known")],
        ]),
      ),
    ),
    isInReview(operation)
      ? card("Verdict", verdict(visit, operation.id, basisOf(history, seen), refusal !== null))
      : notice("good", h("p", null, "This operation is decided: it is not in review any more.")),
    card(
      "How it came here",
      storyOf(
        { ...payment, facts: { ...facts, operations: [operation] } },
        events.map(presentEvent),
        visit.now,
      ),
    ),
  );
  return {
    title: `Review of a ${kind}`,
    section: "reviews",
    content,
    ...(refusal === null ? {} : { status: 409 }),
  };
}

function statement(seen: GatewayStatement): VNode {
  const words = "reason" in seen ? seen.reason : "evidence" in seen ? seen.evidence : null;
  const reference = "reference" in seen ? (seen.reference ?? null) : null;
  return h(
    "p",
    null,
    badge(seen.outcome.replaceAll("_", " "), seen.outcome === "succeeded" ? "good" : "wait"),
    words === null ? null : [" ", stored(words)],
    reference === null ? null : [" ", code(reference)],
  );
}

/** What was chosen and written stays, if it is refused. */
function verdict(visit: Visit, operationId: string, seen: string, isRefused: boolean): VNode {
  const { form } = visit;
  return actionForm(
    visit,
    `/console/reviews/${operationId}`,
    { seen },
    h(
      "fieldset",
      null,
      h("legend", null, "What did happen?"),
      outcomes.map(([value, title, explanation]) =>
        h(
          "label",
          { class: "option" },
          h("input", {
            type: "radio",
            name: "outcome",
            value,
            required: true,
            checked: form["outcome"] === value,
          }),
          h("span", null, title, h("small", null, explanation)),
        ),
      ),
    ),
    h(
      "div",
      { class: "field" },
      h("label", { for: "field-evidence" }, "Evidence"),
      h("textarea", {
        id: "field-evidence",
        name: "evidence",
        required: true,
        maxlength: 2_000,
        "aria-describedby": "field-evidence-help",
        value: form["evidence"] ?? "",
      }),
      h(
        "p",
        { class: "help", id: "field-evidence-help" },
        "Where you looked and what you saw. It is kept in the payment's history; your verdict is taken as fact.",
      ),
    ),
    field(
      "Gateway's reference, if you know it",
      "gatewayReference",
      { value: form["gatewayReference"] ?? "", maxlength: 255 },
      "Needed where an authorization turns out to have succeeded.",
    ),
    isRefused
      ? field(
          "Why the gateway is wrong",
          "overrideReason",
          { value: form["overrideReason"] ?? "", maxlength: 2_000 },
          "Only where the verdict stands although the gateway contradicts it.",
        )
      : null,
    button("Record this verdict"),
  );
}
