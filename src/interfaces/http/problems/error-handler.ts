import type { ErrorRequestHandler, RequestHandler } from "express";
import type { Logger } from "pino";
import { LockCancelledError, LockUnavailableError } from "../../../application/ports/lock-errors";
import { GatewayUnavailableError } from "../../../application/ports/gateway-events/gateway-event-source";
import { SnapshotStoreError } from "../../../application/ports/snapshot-store";
import { StoreUnavailableError } from "../../../application/ports/payment-repository";
import { answerProblem } from "../requests/answer";
import { toldError } from "./problem-details";
import { contextOf } from "../requests/request-context";
import { RequestError } from "./request-error";

export const routeNotFound: RequestHandler = () => {
  throw new RequestError("route_not_found", "There is no such route: /openapi.json lists all routes.");
};

/** The last middleware: every error of every route becomes an answer here, and nowhere else. */
export function errorHandler(logger: Logger): ErrorRequestHandler {
  // Express tells an error handler by its four parameters.
  return (error: unknown, request, response, _next) => {
    const context = contextOf(response);
    if (response.destroyed) {
      // Nobody is there to be told, and the line about the request has been written.
      if (error instanceof LockCancelledError) {
        logger.info(
          { requestId: context.requestId, problem: error.code },
          "the caller disconnected while waiting",
        );
      } else logFailure(logger, error, context.requestId);
      return;
    }
    const told = toldError(isUndecodable(error) ? undecodable() : error);
    context.problem = told.code;
    if (!told.foreseen || isOutage(error)) logFailure(logger, error, context.requestId);
    if (response.headersSent) response.destroy();
    else answerProblem(request, response, told);
  };
}

/** Of what went wrong, what an operator has to see. What a caller did wrong is told to the caller alone. */
export function logFailure(logger: Logger, error: unknown, requestId: string): void {
  const { code, foreseen } = toldError(error);
  if (!foreseen) logger.error({ err: error, requestId }, "unexpected error");
  else if (isOutage(error)) logger.warn({ err: error, requestId, code }, "a dependency failed");
}

/** Their messages name what is down and why; callers are not told, so the log has to. */
function isOutage(error: unknown): boolean {
  return (
    error instanceof StoreUnavailableError ||
    error instanceof LockUnavailableError ||
    error instanceof SnapshotStoreError ||
    error instanceof GatewayUnavailableError
  );
}

/** The router's own complaint about a path such as `/payments/%zz`. */
function isUndecodable(error: unknown): boolean {
  return error instanceof Error && error.name === "URIError" && "status" in error && error.status === 400;
}

function undecodable(): RequestError {
  return new RequestError(
    "malformed_request",
    "The path cannot be decoded: % must be followed by two hexadecimal digits.",
  );
}
