import { parseOperationId } from "../../../domain/identifiers";
import type { ConsoleRoute } from "../serving/console-route";
import { reviewPage } from "./review-page";

export const showReview: ConsoleRoute = {
  method: "get",
  path: "/reviews/:operationId",
  access: "operator",
  async handle(visit, { reviewOperations }) {
    const operationId = parseOperationId(visit.ids["operationId"] ?? "");
    const history = await reviewOperations.one(operationId);
    return reviewPage(visit, history, await reviewOperations.gatewaySays(history));
  },
};
