import { parsePaymentId } from "../../../domain/identifiers";
import type { Observation } from "../../../application/use-cases/observe-payment";
import { formatMoney } from "../../../domain/money";
import { asCaller } from "../../http/requests/as-caller";
import { actionForm, button } from "../html/forms";
import { h } from "../html/h";
import { inCurrency } from "../html/money";
import { badge, code, heading, notice, stored, table, type Tone } from "../html/parts";
import type { ConsoleRoute } from "../serving/console-route";
import { onePayment } from "./one-payment";
import { operationStatus } from "./payment-words";

const path = "/payments/:paymentId/observe";

const asking: ConsoleRoute = {
  method: "get",
  path,
  access: "operator",
  async handle(visit, parts) {
    const { facts } = await onePayment(visit, parts);
    const back = `/console/payments/${facts.id}`;
    const content = h(
      "div",
      null,
      heading("Ask the gateway?"),
      h(
        "section",
        { class: "card" },
        h("h2", null, "What this does"),
        h(
          "p",
          null,
          "The gateway is asked how it sees ",
          code(facts.id),
          ` (${formatMoney(facts.amount)}), and what differs is written down: open operations are settled by its answer, what ` +
            "others did there is counted, contradictions go to review. No money is moved.",
        ),
        actionForm(
          visit,
          `${back}/observe`,
          {},
          h(
            "div",
            { class: "actions" },
            button("Ask the gateway"),
            h("a", { href: back }, "Back, without doing anything"),
          ),
        ),
      ),
    );
    return { title: "Ask the gateway", section: "payments", content };
  },
};

const observing: ConsoleRoute = {
  method: "post",
  path,
  access: "operator",
  async handle({ request, response, ids }, parts) {
    const paymentId = parsePaymentId(ids["paymentId"] ?? "");
    const { payment, observations, picture, next } = await asCaller(request, response, parts, (caller) =>
      parts.observePayment.execute(paymentId, caller),
    );
    const differs = observations.some(({ ...one }) => "result" in one && one.result !== "agrees");
    const content = h(
      "div",
      null,
      heading("What the gateway says"),
      picture?.outcome === "unknown"
        ? notice("wait", h("p", null, "It did not show the payment as a whole: ", stored(picture.reason)))
        : null,
      notice(
        differs ? "wait" : "good",
        h(
          "p",
          null,
          differs
            ? "Not everything agrees: look at each operation."
            : "Nothing contradicts what is recorded.",
        ),
      ),
      h(
        "section",
        { class: "card" },
        table<Observation>(
          "Operations, as recorded and as the gateway sees them",
          [
            { name: "Operation", of: ({ operation }) => operation.kind },
            {
              name: "Amount",
              isNumber: true,
              of: ({ operation }) => inCurrency(operation.amount, payment.facts.amount),
            },
            { name: "Recorded", of: ({ operation }) => operationStatus(operation) },
            { name: "Gateway", of: gatewaySide },
            { name: "Result", of: resultOf },
          ],
          observations,
          "This payment has no operations.",
        ),
        next === null
          ? null
          : h("p", { class: "help" }, "There are more operations: the command line asks about all."),
      ),
      h("p", null, h("a", { href: `/console/payments/${paymentId}` }, "Back to the payment")),
    );
    return { title: "What the gateway says", section: "payments", content };
  },
};

function gatewaySide(observation: Observation) {
  if ("notAsked" in observation) return "not asked";
  const { seen } = observation;
  const words = "reason" in seen ? seen.reason : "evidence" in seen ? seen.evidence : null;
  return words === null ? seen.outcome : [seen.outcome, ": ", stored(words)];
}

const tones = {
  agrees: "good",
  settled: "good",
  corrected: "wait",
  inconclusive: "wait",
  in_review: "bad",
} as const;

function resultOf(observation: Observation) {
  if ("notAsked" in observation) return observation.notAsked.replace("_", " ");
  const tone: Tone = tones[observation.result];
  return badge(observation.result.replace("_", " "), tone);
}

export const observeRoutes: readonly ConsoleRoute[] = [asking, observing];
