import { endpoint } from "../endpoint";

export interface DocumentParts {
  /** What `/openapi.json` answers with. */
  readonly document: () => string;
}

export const showDocument = endpoint<DocumentParts>()({
  method: "get",
  path: "/openapi.json",
  operationId: "showDocument",
  tag: "Service",
  summary: "Show this document",
  access: "open",
  answers: { 200: { description: "OpenAPI 3.1.", contentType: "application/json" } },
  problems: [],
  handle: (_asked, { document }) => ({
    status: 200,
    text: document(),
    contentType: "application/json; charset=utf-8",
  }),
});
