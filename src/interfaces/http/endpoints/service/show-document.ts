import { endpoint } from "../endpoint";

export interface DocumentParts {
  /** What `/openapi.json` answers with, of an API that is mounted at that path. */
  readonly document: (mountedAt: string) => string;
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
  handle: ({ request }, { document }) => ({
    status: 200,
    text: document(request.baseUrl),
    contentType: "application/json; charset=utf-8",
  }),
});
