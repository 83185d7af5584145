import type { Express } from "express";
import { createServer, type Server } from "node:http";
import { budgets } from "../../../application/time-budgets";
import { bornForApp } from "./born-for-app";
import { oneAtATime } from "./one-at-a-time";
import { SlowCallers } from "./slow-callers";

/** How long the headers alone may take. */
const HEADERS_MS = 10_000;
/** Longer than the 60 s after which common proxies drop an idle connection, so that it is they who close it. */
const KEEP_ALIVE_MS = 65_000;

/** How often it is looked for answers that nobody reads; one that is found twice is given up, with its connection. */
const UNREAD_MS = 30_000;

/** The server around the app, not yet listening. Tests use it, too, so that they meet what callers meet. */
export function createHttpServer(app: Express, unreadMs = UNREAD_MS): Server {
  const server = createServer({
    ...bornForApp(app),
    headersTimeout: HEADERS_MS,
    requestTimeout: budgets.httpMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: 5_000,
    // The app refuses them itself, with a problem.
    requireHostHeader: false,
  });
  // Other than 100-continue there is nothing to expect; RFC 9110 allows to ignore it.
  server.on("checkExpectation", (request, response) => server.emit("request", request, response));
  oneAtATime(server, app);
  const callers = new SlowCallers(server);
  const timer = setInterval(() => callers.cut(), unreadMs).unref();
  server.once("close", () => clearInterval(timer));
  return server;
}
