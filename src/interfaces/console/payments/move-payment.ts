import { randomUUID } from "node:crypto";
import { parseIdempotencyKey } from "../../../domain/identifiers";
import { formatMoney } from "../../../domain/money";
import { visibleStatus, type Payment } from "../../../domain/payment/payment";
import { RequestError } from "../../http/problems/request-error";
import { asCaller } from "../../http/requests/as-caller";
import { actionForm, button } from "../html/forms";
import { h } from "../html/h";
import { inCurrency, minorUnits } from "../html/money";
import { code, factList, heading, notice, stored } from "../html/parts";
import { withQuery } from "../html/parts";
import type { ConsoleRoute, Page, Visit } from "../serving/console-route";
import { movements, type ConsoleMovement } from "./movements";
import { onePayment } from "./one-payment";

export const movementRoutes: readonly ConsoleRoute[] = movements.flatMap((movement) => [
  asking(movement),
  moving(movement),
]);

/**
 * Says what would happen. The key of what would be sent is in the address of this page: a reload, a way back and a second
 * click all ask for the same movement.
 */
function asking(movement: ConsoleMovement): ConsoleRoute {
  const path = `/payments/:paymentId/${movement.name}`;
  return {
    method: "get",
    path,
    access: "merchant",
    async handle(visit, parts) {
      const payment = await onePayment(visit, parts);
      const { query, ids } = visit;
      const here = `/console/payments/${ids["paymentId"] ?? ""}/${movement.name}`;
      const amount = query["amount"] ?? "";
      if (query["key"] === undefined)
        return { to: withQuery(here, { amount, key: `console-${randomUUID()}` }) };
      return askingPage(visit, payment, movement, parseIdempotencyKey(query["key"]));
    },
  };
}

function askingPage(visit: Visit, payment: Payment, movement: ConsoleMovement, key: string): Page {
  const { facts } = payment;
  const back = `/console/payments/${facts.id}`;
  const most = movement.most(payment);
  const title = `${movement.title} a payment`;
  // What was sent already is told by its key, whatever the payment has become.
  const isSent = facts.operations.some(({ idempotencyKey }) => idempotencyKey === key);
  if (most === null && !isSent) {
    const content = h(
      "div",
      null,
      heading(title),
      notice(
        "wait",
        h("p", null, `This payment is ${visibleStatus(payment)}: there is nothing to ${movement.name}.`),
      ),
      h("p", null, h("a", { href: back }, "Back to the payment")),
    );
    return { title, section: "payments", content };
  }
  const text = visit.query["amount"] ?? "";
  const amount = text === "" ? (most ?? facts.amount.amount) : minorUnits(text, facts.amount.exponent);
  const isPart = movement.takesAmount && text !== "";
  if (most !== null && amount > most && !isSent) {
    throw new RequestError("invalid_request", `At most ${inCurrency(most, facts.amount)} can be asked for.`);
  }
  const content = h(
    "div",
    null,
    heading(`${movement.title} ${inCurrency(amount, facts.amount)}?`),
    h(
      "section",
      { class: "card" },
      factList([
        ["Payment", code(facts.id)],
        ["Merchant", stored(facts.merchant)],
        ["Reference", facts.reference === null ? null : stored(facts.reference)],
        ["Authorized", formatMoney(facts.amount)],
        ["Status", visibleStatus(payment)],
      ]),
    ),
    h(
      "section",
      { class: "card" },
      h("h2", null, "What this does"),
      isSent
        ? notice(
            "wait",
            h(
              "p",
              null,
              "This was sent before. Sending it again shows what became of it, and moves nothing.",
            ),
          )
        : movement.effect(payment, amount),
      actionForm(
        visit,
        `${back}/${movement.name}`,
        { key, ...(isPart ? { amount: String(amount) } : {}) },
        h(
          "div",
          { class: "actions" },
          button(
            `${movement.title} ${inCurrency(amount, facts.amount)}`,
            movement.isDangerous ? "danger" : "main",
          ),
          h("a", { href: back }, "Back, without doing anything"),
        ),
      ),
    ),
  );
  return { title, section: "payments", content };
}

function moving(movement: ConsoleMovement): ConsoleRoute {
  return {
    method: "post",
    path: `/payments/:paymentId/${movement.name}`,
    access: "merchant",
    isKeyed: true,
    async handle(visit, parts) {
      const { facts } = await onePayment(visit, parts);
      const { request, response, form } = visit;
      const key = parseIdempotencyKey(form["key"] ?? "");
      const amount = form["amount"];
      const command = {
        paymentId: facts.id,
        idempotencyKey: key,
        amount: amount === undefined ? undefined : minorUnits(amount, 0),
      };
      // An operator acts for the payment's merchant; the history keeps whose key it was.
      const { operation } = await asCaller(request, response, parts, (caller) =>
        movement.move(parts, command, { ...caller, merchant: facts.merchant }),
      );
      return { to: `/console/payments/${facts.id}?done=${operation.id}#${operation.id}` };
    },
  };
}
