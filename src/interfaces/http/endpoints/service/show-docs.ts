import type { RequestHandler, Router } from "express";
import helmet from "helmet";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { RequestError } from "../../problems/request-error";
import { answerText } from "../../requests/answer";
import { endpoint } from "../endpoint";
import { onlyThese } from "../mount";

/** Relative, as the page may be mounted anywhere: `folder` is where its files are, seen from it. */
const page = (folder: string): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Holdfast API</title>
    <link rel="stylesheet" href="${folder}swagger-ui.css">
    <link rel="icon" type="image/png" href="${folder}favicon-32x32.png">
  </head>
  <body>
    <div id="api"></div>
    <script src="${folder}swagger-ui-bundle.js"></script>
    <script src="${folder}initializer.js"></script>
  </body>
</html>
`;

/** The package's own would load a pet store from elsewhere; a validator badge would tell others about this server. */
const INITIALIZER = `const url = new URL("../openapi.json", document.currentScript.src).href;
SwaggerUIBundle({ url, dom_id: "#api", deepLinking: true, validatorUrl: null });
`;

const FILES = {
  "swagger-ui.css": "text/css; charset=utf-8",
  "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
  "favicon-32x32.png": "image/png",
};

// The server speaks plain HTTP, so telling browsers to upgrade would leave the page without its files.
const safe = helmet({
  contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } },
  // Told with every answer that came over TLS, and with no other.
  strictTransportSecurity: false,
}) as RequestHandler;

/** The API for people: a page that loads nothing from anywhere else. */
export const showDocs = endpoint<object>()({
  method: "get",
  path: "/docs",
  operationId: "showDocs",
  tag: "Service",
  summary: "Show this document as a page",
  access: "open",
  answers: { 200: { description: "A page that loads nothing from other hosts.", contentType: "text/html" } },
  problems: [],
  handle({ request, response }) {
    void safe(request, response, () => {});
    const text = page(request.path.endsWith("/") ? "" : "docs/");
    return { status: 200, text, contentType: "text/html; charset=utf-8" };
  },
});

/** What the page loads. */
export function mountDocsFiles(router: Router): void {
  const initializer: RequestHandler = (_request, response) => {
    answerText(response, 200, "text/javascript; charset=utf-8", INITIALIZER);
  };
  const file = (name: string, handler: RequestHandler) =>
    router
      .route(`/docs/${name}`)
      .get(safe, handler)
      .all(onlyThese(["get"]));
  file("initializer.js", initializer);
  for (const [name, contentType] of Object.entries(FILES)) file(name, fromMemory(name, contentType));
}

/** Read once, by the first who asks: a descriptor for each request would be at the mercy of whoever does not read. */
function fromMemory(file: string, contentType: string): RequestHandler {
  let content: Buffer | undefined;
  let etag = "";
  return (request, response) => {
    if (content === undefined) {
      content = readFileSync(join(swaggerFolder(), file));
      etag = `"${createHash("sha256").update(content).digest("base64url")}"`;
    }
    const { "if-match": ifMatch, "if-none-match": ifNoneMatch } = request.headers;
    if (ifMatch !== undefined && !names(ifMatch, etag)) {
      throw new RequestError(
        "precondition_failed",
        `The document has the ETag ${etag}, which If-Match does not list.`,
      );
    }
    // Megabytes that change with the package only; the rest of the interface is never cached.
    response.setHeader("Cache-Control", "public, max-age=3600");
    response.setHeader("ETag", etag);
    if (ifNoneMatch !== undefined && names(ifNoneMatch.replaceAll("W/", ""), etag)) {
      response.statusCode = 304;
      response.end();
      return;
    }
    answerText(response, 200, contentType, content);
  };
}

/** A header's list of entity tags; `*` is any. */
function names(list: string, etag: string): boolean {
  return list.split(",").some((tag) => ["*", etag].includes(tag.trim()));
}

function swaggerFolder(): string {
  return dirname(require.resolve("swagger-ui-dist/package.json"));
}
