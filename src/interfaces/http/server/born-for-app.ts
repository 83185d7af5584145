import type { Express } from "express";
import { IncomingMessage, ServerResponse, type ServerOptions } from "node:http";

/**
 * Classes of a server's requests and responses that have the app's prototypes from the beginning. Express gives each one its
 * prototype when it comes in; where it has that already, nothing changes. On Node 20 an object whose prototype was changed is
 * slow from then on, and outlives several collections.
 */
export function bornForApp(
  app: Express,
): Required<Pick<ServerOptions, "IncomingMessage" | "ServerResponse">> {
  class AppRequest extends IncomingMessage {}
  class AppResponse<Request extends IncomingMessage> extends ServerResponse<Request> {}
  Object.setPrototypeOf(AppRequest.prototype, app.request);
  Object.setPrototypeOf(AppResponse.prototype, app.response);
  app.request = AppRequest.prototype as unknown as Express["request"];
  app.response = AppResponse.prototype as unknown as Express["response"];
  return { IncomingMessage: AppRequest, ServerResponse: AppResponse };
}
