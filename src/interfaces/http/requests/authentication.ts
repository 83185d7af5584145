import type { RequestHandler } from "express";
import {
  UnauthorizedError,
  type AuthenticateCaller,
} from "../../../application/use-cases/authenticate-caller";
import { callerOf, contextOf } from "./request-context";
import { RequestError } from "../problems/request-error";

const BEARER = /^Bearer +([\x21-\x7e]{1,512}) *$/i;

/** Finds out whom the request acts for, before anything else of it is looked at. */
export function authenticated(authenticate: Pick<AuthenticateCaller, "execute">): RequestHandler {
  return async (request, response, next) => {
    const secret = BEARER.exec(request.headers.authorization ?? "")?.[1] ?? null;
    const context = contextOf(response);
    context.caller = await authenticate.execute(secret);
    context.isStillKnown = () => stillKnown(authenticate, secret);
    next();
  };
}

/** Behind `authenticated`: what is here looks across merchants. */
export const operatorOnly: RequestHandler = (_request, response, next) => {
  if (!callerOf(response).operator) {
    throw new RequestError("operator_key_required", "This route requires an operator key.");
  }
  next();
};

async function stillKnown(
  authenticate: Pick<AuthenticateCaller, "execute">,
  secret: string | null,
): Promise<boolean> {
  try {
    await authenticate.execute(secret);
    return true;
  } catch (error) {
    if (error instanceof UnauthorizedError) return false;
    throw error;
  }
}
