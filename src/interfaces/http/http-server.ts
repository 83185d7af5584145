import type { Express } from "express";
import { createServer, type Server } from "node:http";
import { budgets } from "../../application/operations/budgets";
import { answerMalformedHttp } from "./malformed-http";

/** How long the headers alone may take. */
const HEADERS_MS = 10_000;
/** Longer than the 60 s after which common proxies drop an idle connection, so that it is they who close it. */
const KEEP_ALIVE_MS = 65_000;

/** The server around the app, not yet listening. Tests use it, too, so that they meet what callers meet. */
export function createHttpServer(app: Express): Server {
  const server = createServer(
    {
      headersTimeout: HEADERS_MS,
      requestTimeout: budgets.httpMs,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: 5_000,
      // The app refuses them itself, with a problem.
      requireHostHeader: false,
    },
    app,
  );
  server.on("clientError", answerMalformedHttp);
  // Other than 100-continue there is nothing to expect; RFC 9110 allows to ignore it.
  server.on("checkExpectation", app);
  server.on("connect", (_request, socket) => {
    answerMalformedHttp(new Error("CONNECT is for proxies"), socket);
  });
  return server;
}
