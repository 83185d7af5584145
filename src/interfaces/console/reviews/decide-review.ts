import { actBehind } from "../../http/requests/audit/act-behind";
import { z } from "zod";
import { parseOperationId } from "../../../domain/identifiers";
import { PaymentError } from "../../../domain/payment/errors";
import { isInReview } from "../../../domain/payment/operation";
import { asCaller } from "../../http/requests/as-caller";
import { validBody } from "../../http/requests/validation";
import type { ConsoleParts } from "../console-parts";
import type { ConsoleRoute, Page, Visit } from "../serving/console-route";
import { basisOf, reviewPage } from "./review-page";

const words = (most: number) => z.string().trim().max(most);

/** A verdict without evidence is none. */
const verdictSent = z.object({
  outcome: z.enum(["moved", "not_moved", "pending"]),
  evidence: words(2_000).min(1, "is needed: say where you looked and what you saw"),
  gatewayReference: words(255).optional(),
  overrideReason: words(2_000).optional(),
});

/** What can be mended in the form. */
const MENDABLE = ["review_contradicts_gateway", "review_contradicts_payment", "gateway_reference_required"];

export const decideReview: ConsoleRoute = {
  method: "post",
  path: "/reviews/:operationId",
  access: "operator",
  isKeyed: true,
  async handle(visit, parts) {
    const { request, response, form } = visit;
    const operationId = parseOperationId(visit.ids["operationId"] ?? "");
    const { outcome, evidence, gatewayReference, overrideReason } = validBody(verdictSent, form);
    const verdict = {
      outcome,
      evidence: oneLine(evidence),
      gatewayReference: orNull(gatewayReference),
      overrideReason: orNull(overrideReason),
    };
    const changed = await changedSince(visit, parts);
    if (changed !== null) return changed;
    try {
      const { payment } = await asCaller(request, response, parts, (caller) =>
        parts.reviewOperations.resolve(operationId, verdict, caller, actBehind(request, response)),
      );
      return { to: `/console/payments/${payment.facts.id}#${operationId}` };
    } catch (error) {
      if (!isMendable(error)) throw error;
      const history = await parts.reviewOperations.one(operationId);
      const seen = await parts.reviewOperations.gatewaySays(history);
      return reviewPage(visit satisfies Visit, history, seen, error.message);
    }
  },
};

/** The page anew, if it does not show any more what the person has seen. Of what is decided the use case says so. */
async function changedSince(visit: Visit, { reviewOperations }: ConsoleParts): Promise<Page | null> {
  const history = await reviewOperations.one(parseOperationId(visit.ids["operationId"] ?? ""));
  if (!isInReview(history.operation)) return null;
  const seen = await reviewOperations.gatewaySays(history);
  if (visit.form["seen"] === basisOf(history, seen)) return null;
  const words =
    "What is recorded or what the gateway says has changed since this page was shown. Nothing was decided: look at both " +
    "sides again, and send your verdict if it stands.";
  return reviewPage(visit, history, seen, words);
}

function isMendable(error: unknown): error is PaymentError {
  return error instanceof PaymentError && MENDABLE.includes(String(error.code));
}

function orNull(text: string | undefined): string | null {
  return text === undefined || text === "" ? null : oneLine(text);
}

/** Control characters do not survive every store. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Cs}]+/gu, " ");
}
