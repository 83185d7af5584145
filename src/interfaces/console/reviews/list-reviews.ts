import type { ReviewCase } from "../../../application/use-cases/review-operations";
import { formatMoney, type Currency } from "../../../domain/money";
import { isRelease } from "../../../domain/payment/operation";
import { h } from "../html/h";
import { shortened } from "../html/lengths";
import { heading, pager, stored, table } from "../html/parts";
import { ago, when } from "../html/times";
import type { ConsoleRoute } from "../serving/console-route";

const PAGE = 25;

export const listReviews: ConsoleRoute = {
  method: "get",
  path: "/reviews",
  access: "operator",
  async handle({ query, now }, { reviewOperations }) {
    const { cursor } = query;
    const page = await reviewOperations.list({ limit: PAGE, ...(cursor === undefined ? {} : { cursor }) });
    const content = h(
      "div",
      null,
      heading("Reviews"),
      h(
        "p",
        { class: "lead" },
        "Operations whose outcome only a person can decide. The gateway goes on being asked about each of them.",
      ),
      h(
        "section",
        { class: "card" },
        table<ReviewCase>(
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
            {
              name: "Amount",
              isNumber: true,
              of: ({ amount, currency, currencyExponent: exponent }) =>
                formatMoney({ amount, currency: currency as Currency, exponent }),
            },
            { name: "Why", of: ({ reason }) => stored(shortened(reason)) },
            {
              name: "Asked next",
              of: ({ operation: { dueAt } }) => (dueAt === null ? "not by itself" : when(dueAt)),
            },
          ],
          page.data,
          "Nothing waits for a decision. Operations appear here when the gateway never told their outcome, or told two.",
        ),
        pager("/console/reviews", query, page.nextCursor),
      ),
    );
    return { title: "Reviews", section: "reviews", content };
  },
};
