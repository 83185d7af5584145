import type { RequestHandler } from "express";
import type { AuthenticateCaller } from "../../../application/use-cases/authenticate-caller";
import { callerOf, contextOf } from "./request-context";
import { RequestError } from "../problems/request-error";

const BEARER = /^Bearer +([\x21-\x7e]{1,512}) *$/i;

/** Finds out whom the request acts for, before anything else of it is looked at. */
export function authenticated(authenticate: Pick<AuthenticateCaller, "execute">): RequestHandler {
  return async (request, response, next) => {
    const secret = BEARER.exec(request.headers.authorization ?? "")?.[1] ?? null;
    contextOf(response).caller = await authenticate.execute(secret);
    next();
  };
}

/** Behind `authenticated`: what is here looks across merchants. */
export const operatorOnly: RequestHandler = (_request, response, next) => {
  if (!callerOf(response).operator) {
    throw new RequestError("operator_key_required", "This route needs an operator's key.");
  }
  next();
};
