import type { VNode } from "preact";
import { h } from "../html/h";
import type { PaymentQuery } from "../../../application/ports/payment-repository";
import { parseMerchantId, type MerchantId } from "../../../domain/identifiers";
import { formatMoney } from "../../../domain/money";
import { visibleStatus, type Payment } from "../../../domain/payment/payment";
import { RequestError } from "../../http/problems/request-error";
import { button, choice, field } from "../html/forms";
import { badge, code, heading, pager, stored, storedOr, table } from "../html/parts";
import { when } from "../html/times";
import type { ConsoleRoute, Visit } from "../serving/console-route";
import { findPayments } from "./find-payments";
import { paymentTone, statuses } from "./payment-words";

const PAGE = 25;
const DAY_MS = 86_400_000;
const FIELDS = ["q", "status", "merchant", "from", "to"] as const;

export const listPayments: ConsoleRoute = {
  method: "get",
  path: "/payments",
  access: "merchant",
  async handle(visit, parts) {
    const { query } = visit;
    const text = (query["q"] ?? "").replace(/^ +| +$/g, "");
    const { one, page } = await findPayments(text, wanted(visit), parts);
    if (one !== null) {
      const at = one.operationId === undefined ? "" : `#${one.operationId}`;
      return { to: `/console/payments/${one.payment.facts.id}${at}` };
    }
    const isFiltered = FIELDS.some((name) => (query[name] ?? "") !== "");
    const empty = isFiltered
      ? "No payment matches. A reference, id or amount has to be exact."
      : "There are no payments yet. The first one that is authorized appears here.";
    const content = h(
      "div",
      null,
      heading("Payments"),
      filters(visit),
      h(
        "section",
        { class: "card" },
        table<Payment>(
          "Payments, newest first",
          [
            { name: "Created", of: ({ facts }) => when(facts.createdAt) },
            {
              name: "Payment",
              of: ({ facts }) => h("a", { href: `/console/payments/${facts.id}` }, code(facts.id)),
            },
            ...(visit.whose === null
              ? [{ name: "Merchant", of: ({ facts }: Payment) => stored(facts.merchant) }]
              : []),
            { name: "Reference", of: ({ facts }) => storedOr(facts.reference) },
            { name: "Amount", isNumber: true, of: ({ facts }) => formatMoney(facts.amount) },
            {
              name: "Status",
              of: (payment) => badge(visibleStatus(payment).replace("_", " "), paymentTone(payment)),
            },
          ],
          page.data,
          empty,
        ),
        pager("/console/payments", query, page.nextCursor),
      ),
    );
    return { title: "Payments", section: "payments", content };
  },
};

function filters({ query, whose }: Visit): VNode {
  return h(
    "form",
    { class: "filters", method: "get", action: "/console/payments", role: "search" },
    h(
      "div",
      { class: "wide" },
      field("Find", "q", {
        type: "search",
        value: query["q"] ?? "",
        placeholder: "id, reference, gateway reference, or 12.50 EUR",
        maxlength: 255,
      }),
    ),
    choice(
      "Status",
      "status",
      [["", "Any"], ...statuses.map((status) => [status, status.replace("_", " ")] as const)],
      query["status"],
    ),
    whose === null ? field("Merchant", "merchant", { value: query["merchant"] ?? "", maxlength: 63 }) : null,
    field("From", "from", { type: "date", value: query["from"] ?? "" }),
    field("To", "to", { type: "date", value: query["to"] ?? "" }),
    button("Find"),
  );
}

function wanted({ query, whose }: Visit): PaymentQuery {
  const [status, from, to] = [query["status"] ?? "", dayOf(query["from"]), dayOf(query["to"])];
  return {
    merchant: whose ?? merchantIn(query["merchant"] ?? ""),
    limit: PAGE,
    ...(query["cursor"] === undefined ? {} : { cursor: query["cursor"] }),
    ...(status === "" ? {} : { status }),
    ...(from === null ? {} : { createdFrom: from }),
    // The last day belongs to it.
    ...(to === null ? {} : { createdTo: new Date(to.getTime() + DAY_MS) }),
  };
}

function merchantIn(text: string): MerchantId | null {
  return text.trim() === "" ? null : parseMerchantId(text.trim());
}

function dayOf(text: string | undefined): Date | null {
  if (text === undefined || text === "") return null;
  const day = new Date(`${text}T00:00:00.000Z`);
  if (/^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(day.getTime())) return day;
  throw new RequestError("invalid_request", "A day is written as in 2026-03-04.");
}
