import { Router, type RequestHandler } from "express";
import helmet from "helmet";
import { dirname, join } from "node:path";
import { answerText } from "./answer";
import { openApiDocument } from "./openapi/openapi-document";
import { route } from "./routes";

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Holdfast API</title>
    <link rel="stylesheet" href="/docs/swagger-ui.css">
    <link rel="icon" type="image/png" href="/docs/favicon-32x32.png">
  </head>
  <body>
    <div id="api"></div>
    <script src="/docs/swagger-ui-bundle.js"></script>
    <script src="/docs/initializer.js"></script>
  </body>
</html>
`;

/** The package's own would load a pet store from elsewhere; a validator badge would tell others about this server. */
const INITIALIZER = `SwaggerUIBundle({ url: "/openapi.json", dom_id: "#api", deepLinking: true, validatorUrl: null });
`;

const FILES = ["swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png"];

/** The API, for programs (`/openapi.json`) and for people (`/docs`, which loads nothing from anywhere else). */
export function docsRouter(version: string): Router {
  const router = Router();
  let json: string | undefined;

  const document: RequestHandler = (_request, response) => {
    json ??= JSON.stringify(openApiDocument(version));
    answerText(response, 200, "application/json; charset=utf-8", json);
  };
  // The server speaks plain HTTP, so telling browsers to upgrade would leave the page without its files.
  const safe = helmet({ contentSecurityPolicy: { directives: { upgradeInsecureRequests: null } } });
  const page = (contentType: string, text: string): RequestHandler[] => [
    safe as RequestHandler,
    (_request, response) => answerText(response, 200, `${contentType}; charset=utf-8`, text),
  ];

  route(router, "/openapi.json", { get: document });
  route(router, "/docs", { get: page("text/html", PAGE) });
  route(router, "/docs/initializer.js", { get: page("text/javascript", INITIALIZER) });
  for (const file of FILES) {
    route(router, `/docs/${file}`, {
      get: [
        safe as RequestHandler,
        (_request, response) => {
          // Megabytes that change with the package only; the rest of the interface is never cached.
          response.removeHeader("Cache-Control");
          response.sendFile(join(swaggerFolder(), file), { maxAge: "1h" });
        },
      ],
    });
  }
  return router;
}

function swaggerFolder(): string {
  return dirname(require.resolve("swagger-ui-dist/package.json"));
}
