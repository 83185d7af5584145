import {
  describeHolder,
  LockContentionError,
  LockError,
  LockTimeoutError,
  waitFacts,
} from "../../../application/ports/lock-errors";
import type { LockHolder } from "../../../application/ports/lock-provider";
import {
  InvalidCursorError,
  StoreUnavailableError,
  VersionConflictError,
} from "../../../application/ports/payment-repository";
import {
  GatewayEventError,
  GatewayUnavailableError,
} from "../../../application/ports/gateway-events/gateway-event-source";
import { SnapshotStoreError } from "../../../application/ports/snapshot-store";
import { ShuttingDownError } from "../../../application/shutting-down-error";
import { SecretsKeyError } from "../../../application/ports/events/secret-box";
import { SandboxError } from "../../../application/sandboxes/sandbox-errors";
import { UnauthorizedError } from "../../../application/use-cases/authenticate-caller";
import { InvalidValueError, PaymentError } from "../../../domain/payment/errors";
import { WebhookError } from "../../../domain/webhooks/errors";
import {
  PENDING_SECONDS,
  problemCodeOf,
  problemKind,
  type ErrorCode,
  type ProblemCode,
} from "./problem-table";
import { RequestError } from "./request-error";

/** What is told of an error: nothing that is not written here leaves the process. */
export interface ToldError {
  readonly code: ProblemCode;
  readonly detail: string;
  readonly facts: Readonly<Record<string, unknown>>;
  /** The refusal was stored before this request came. */
  readonly replayed: boolean;
  /** False for an error that nobody foresaw: it has to be logged in full. */
  readonly foreseen: boolean;
}

/** RFC 9457. Facts of the problem are members beside these. */
export interface ProblemDetails {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  readonly code: ProblemCode;
  readonly retryable: boolean;
  readonly requestId: string;
  readonly [fact: string]: unknown;
}

export function toldError(error: unknown): ToldError {
  if (isPaymentError(error)) return told(error.code, error.message, error.facts, error.replayed);
  if (error instanceof RequestError) return told(error.code, error.message, error.facts);
  if (error instanceof UnauthorizedError) return told(error.code, error.message);
  if (error instanceof InvalidCursorError) {
    const detail = "not a cursor of this list: start again without a cursor";
    return told(error.code, "The query is not valid.", { errors: [{ parameter: "cursor", detail }] });
  }
  if (error instanceof InvalidValueError) return told(error.code, `This is not valid: ${error.message}.`);
  if (error instanceof LockError) return toldLockError(error);
  if (error instanceof SandboxError) return told(error.code, sentence(error.message), error.facts);
  if (error instanceof GatewayEventError) return told(error.code, error.message);
  if (error instanceof GatewayUnavailableError) {
    return told(error.code, "The payment gateway does not list its events. Repeat the request.");
  }
  if (error instanceof WebhookError) return told(error.code, error.message, error.facts);
  if (error instanceof SecretsKeyError) return told(error.code, sentence(error.message));
  if (error instanceof SnapshotStoreError) {
    return told(error.code, "The snapshot store does not answer. Nothing was changed: repeat the request.");
  }
  if (error instanceof VersionConflictError) {
    return told(
      error.code,
      "The payment was changed by other requests while this one was running: repeat it.",
    );
  }
  if (error instanceof StoreUnavailableError) {
    const { code, outcome } = error;
    return told(code, outcome === "none" ? NOTHING_DONE : OUTCOME_UNKNOWN, { outcome });
  }
  if (error instanceof ShuttingDownError) return told(error.code, NOTHING_DONE, { outcome: "none" });
  return unforeseen;
}

export function problemDetails(error: ToldError, instance: string, requestId: string): ProblemDetails {
  const { status, title, retryable } = problemKind(error.code);
  const members = {
    type: `urn:holdfast:problem:${error.code}`,
    title,
    status,
    detail: error.detail,
    instance,
    code: error.code,
    retryable,
    requestId,
  };
  // The members come first for the reader, and last so that no fact can take the name of one.
  return { ...members, ...error.facts, ...members };
}

/** What a program needs of it before it reads the body. */
export function headersOfProblem({ code, replayed, facts }: ToldError) {
  const { retryable, retryAfterSeconds: usual } = problemKind(code);
  const retryAfterSeconds = retryable && facts["operationStatus"] === "pending" ? PENDING_SECONDS : usual;
  return {
    ...(replayed ? { "Idempotency-Replayed": "true" as const } : {}),
    ...(retryAfterSeconds === undefined ? {} : { "Retry-After": retryAfterSeconds }),
  };
}

/** JSON of a problem, with bigints as numbers: no amount is above 2^53. */
export function problemJson(problem: ProblemDetails): string {
  return JSON.stringify(problem, (_key, value: unknown) =>
    typeof value === "bigint" ? Number(value) : value,
  );
}

/** `instanceof` alone would leave the error's own type parameter open. */
function isPaymentError(error: unknown): error is PaymentError {
  return error instanceof PaymentError;
}

const NOTHING_DONE =
  "The service cannot answer at the moment. This request has changed nothing: repeat it later with the same key.";
const OUTCOME_UNKNOWN =
  "It is not known whether this request was carried out, or still will be: repeat it with the same idempotency key to " +
  "get its outcome. If it has no key, check the current state before you repeat it.";

const unforeseen: ToldError = {
  code: "internal_error",
  detail: "An unexpected error occurred. An operator can find it in the log by its request id.",
  facts: {},
  replayed: false,
  foreseen: false,
};

function told(code: ErrorCode, detail: string, facts: object = {}, replayed = false): ToldError {
  return { code: problemCodeOf(code), detail, facts: { ...facts }, replayed, foreseen: true };
}

/** A backend's own words may name hosts and credentials, so they are for the log alone. */
function toldLockError(error: LockError): ToldError {
  if (error instanceof LockTimeoutError) {
    const { limit, holder, resourceId, waitedMs } = error;
    const waited =
      limit.timeout === 0
        ? `Tried once to lock ${resourceId}`
        : `Timed out after ${inSeconds(waitedMs)} s waiting for ${resourceId}`;
    return told(
      error.code,
      `${waited}; held by ${describeHolder(holder)} (limit from ${limit.source}).`,
      lockFacts(error, holder),
    );
  }
  if (error instanceof LockContentionError) {
    const { holder, resourceId } = error;
    return told(
      error.code,
      `${resourceId} is held by ${describeHolder(holder)}, and another caller is already waiting for it.`,
      lockFacts(error, holder),
    );
  }
  switch (error.code) {
    case "lock_unavailable":
      return told(
        error.code,
        "The lock service does not answer. Nothing was sent to the gateway: repeat the request.",
        lockFacts(error),
      );
    case "lock_lost":
      return told(
        error.code,
        "The lock was lost before anything was sent to the gateway: repeat the request.",
      );
    case "wait_cancelled":
      return told(
        error.code,
        "The service is shutting down. Nothing was sent to the gateway: repeat the request.",
        {
          ...lockFacts(error),
          outcome: "none",
        },
      );
    case "lock_timeout":
    case "lock_contended":
    case "lock_reentrancy":
    case "lock_permits":
      return unforeseen;
  }
}

/** What the wait was, and who is inside, as far as they are known. */
function lockFacts({ wait }: LockError, holder?: LockHolder): object {
  return { ...(wait && waitFacts(wait)), holder: holder && shownHolder(holder) };
}

function shownHolder({ host, pid, purpose, since }: LockHolder): object {
  return { host, pid, purpose, since };
}

function sentence(words: string): string {
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}.`;
}

function inSeconds(ms: number): number {
  return Number((ms / 1_000).toFixed(1));
}
