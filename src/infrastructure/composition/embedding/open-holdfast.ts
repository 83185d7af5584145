import type { IncomingMessage, ServerResponse } from "node:http";
import type { Request, Response } from "express";
import { EmbeddedPayments } from "../../../interfaces/embedded/embedded-payments";
import { CUSTOMER_PAGES } from "../../../interfaces/http/endpoints/customer/customer-parts";
import { Lifecycle } from "../../../interfaces/http/server/lifecycle";
import { ConfigurationError, readConfiguration } from "../../configuration/configuration";
import { tokens } from "../container/tokens";
import { openApplication } from "../opening/open-application";
import { openServer } from "../serving/open-server";
import { Service } from "../serving/service";
import { version } from "../version";
import { inOwnWords } from "./held-store";
import { mistakenOptions, type HoldfastOptions } from "./holdfast-options";
import { UnderWay } from "./under-way";

/** What Express, and whatever else hands on requests of `node:http`, can call. */
export type EmbeddedRouter = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;

/** Holdfast in the process of its user: the same store, locks, gateway and background work as `holdfast serve`. */
export interface Holdfast {
  readonly payments: EmbeddedPayments;
  /** The HTTP API, to be mounted in an Express application, before any parser of bodies. */
  router(): EmbeddedRouter;
  /** Lets what is under way finish, for half a minute at most, and lets go of everything. */
  close(): Promise<void>;
}

/** Opens everything, and begins with what is done without a request. Throws what is wrong with the options, all at once. */
export async function openHoldfast(options: HoldfastOptions = {}): Promise<Holdfast> {
  const mistakes = mistakenOptions(options);
  if (mistakes.length > 0)
    throw new ConfigurationError(mistakes.map((mistake) => ({ ...mistake, kind: "option" as const })));
  const { trustCallers = false, sandboxLimit = 0 } = options;
  const configuration = readConfiguration({
    flags: {},
    environment: {},
    options: { ...options, sandboxLimit },
  });
  const application = await inOwnWords(openApplication(configuration, { purpose: "serve" }));
  const { advertise } = configuration.settings;
  const ownUrl = (): string => advertise.value ?? "http://localhost";
  await openServer(application, version(), { ownUrl, needsKeys: !trustCallers });

  const { container } = application;
  const service = container.get(Service);
  const lifecycle = container.get(Lifecycle);
  const underWay = new UnderWay(lifecycle);
  const parts = container.get(tokens.httpAppParts);
  const app = container.get(tokens.httpApp);
  service.work();
  let closing: Promise<void> | undefined;
  return {
    payments: new EmbeddedPayments({
      inWorld: (work) => underWay.run(() => work(parts)),
      customerUrl: (path) => `${ownUrl()}${CUSTOMER_PAGES}${path}`,
    }),
    router: () => (request, response, next) => {
      underWay.await(response);
      app(request as Request, response as Response, next);
    },
    close: () => (closing ??= underWay.end().then(() => service.end())),
  };
}
