import { randomUUID } from "node:crypto";
import { parseIdempotencyKey } from "../../../domain/identifiers";
import { formatMoney } from "../../../domain/money";
import { operationOfKey, visibleStatus, type Payment } from "../../../domain/payment/payment";
import { RequestError } from "../../http/problems/request-error";
import { asCaller } from "../../http/requests/as-caller";
import { actionForm, button } from "../html/forms";
import { h } from "../html/h";
import { confirmedAmount, inCurrency, minorUnits, plainAmount } from "../html/money";
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
 * Says what would happen. The key and the amount of what would be sent are in the address of this page: a reload, a way back
 * and a second click all ask for the same movement, whatever the payment has become meanwhile.
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
      const key = parseIdempotencyKey(query["key"] ?? `console-${randomUUID()}`);
      // What was asked for already is told by its key, whatever the payment has become.
      const own = operationOfKey(payment, movement.name, key);
      const most = movement.most(payment);
      const isSent = own !== undefined && own.status !== "not_sent";
      if (most === null && !isSent) return nothingPage(payment, movement);
      const amount = own?.amount ?? askedFor(payment, movement, query["amount"] ?? "");
      const isResolved = !movement.takesAmount || (query["amount"] ?? "") !== "";
      if (query["key"] === undefined || !isResolved) {
        const text = movement.takesAmount ? plainAmount(amount, payment.facts.amount) : "";
        return { to: withQuery(here, { amount: text, key }) };
      }
      if (most !== null && amount > most && !isSent) {
        const atMost = inCurrency(most, payment.facts.amount);
        throw new RequestError("invalid_request", `At most ${atMost} can be asked for.`);
      }
      return askingPage(visit, payment, movement, { key, amount, isSent });
    },
  };
}

/** What was left empty is all that there is. */
function askedFor(payment: Payment, movement: ConsoleMovement, text: string): bigint {
  const { amount } = payment.facts;
  if (movement.takesAmount && text !== "") return minorUnits(text, amount);
  return movement.most(payment) ?? amount.amount;
}

function nothingPage(payment: Payment, movement: ConsoleMovement): Page {
  const title = `${movement.title} a payment`;
  const content = h(
    "div",
    null,
    heading(title),
    notice(
      "wait",
      h("p", null, `This payment is ${visibleStatus(payment)}: there is nothing to ${movement.name}.`),
    ),
    h("p", null, h("a", { href: `/console/payments/${payment.facts.id}` }, "Back to the payment")),
  );
  return { title, section: "payments", content };
}

interface Asked {
  readonly key: string;
  readonly amount: bigint;
  readonly isSent: boolean;
}

function askingPage(
  visit: Visit,
  payment: Payment,
  movement: ConsoleMovement,
  { key, amount, isSent }: Asked,
): Page {
  const { facts } = payment;
  const back = `/console/payments/${facts.id}`;
  const title = `${movement.title} a payment`;
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
        { key, ...(movement.takesAmount ? { amount: plainAmount(amount, facts.amount) } : {}) },
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
      const command = {
        paymentId: facts.id,
        idempotencyKey: key,
        amount: movement.takesAmount ? confirmedAmount(form["amount"] ?? "", facts.amount) : undefined,
      };
      // An operator acts for the payment's merchant; the history keeps whose key it was.
      const { operation } = await asCaller(request, response, parts, (caller) =>
        movement.move(parts, command, { ...caller, merchant: facts.merchant }),
      );
      return { to: `/console/payments/${facts.id}?done=${operation.id}#${operation.id}` };
    },
  };
}
