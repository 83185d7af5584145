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
import { SnapshotStoreError } from "../../../application/ports/snapshot-store";
import { SandboxError } from "../../../application/sandboxes/sandbox-errors";
import { UnauthorizedError } from "../../../application/use-cases/authenticate-caller";
import { InvalidValueError, PaymentError } from "../../../domain/payment-errors";
import { problemCodeOf, problemKind, type ErrorCode, type ProblemCode } from "./problem-table";
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
    const detail = "not a cursor of this list: begin again without one";
    return told(error.code, "The query is not valid.", { errors: [{ parameter: "cursor", detail }] });
  }
  if (error instanceof InvalidValueError) return told(error.code, `This is not valid: ${error.message}.`);
  if (error instanceof LockError) return toldLockError(error);
  if (error instanceof SandboxError) return told(error.code, sentence(error.message), error.facts);
  if (error instanceof SnapshotStoreError) {
    return told(
      error.code,
      "The store of sandboxes does not answer. Nothing was changed: repeat the request.",
    );
  }
  if (error instanceof VersionConflictError) {
    return told(error.code, "The payment kept changing under this request: repeat it.");
  }
  if (error instanceof StoreUnavailableError) {
    const { code, outcome } = error;
    return told(code, outcome === "none" ? NOTHING_DONE : NOBODY_KNOWS, { outcome });
  }
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
  "The service cannot answer right now, and this request has changed nothing: repeat it later, with the same key.";
const NOBODY_KNOWS =
  "Nobody knows yet whether this request has been carried out, or will be: repeat it with the same idempotency key, " +
  "and its one outcome is told. Where there is no key, look before you repeat it.";

const unforeseen: ToldError = {
  code: "internal_error",
  detail: "Something went wrong that should not have. The operator finds it in the log by the request id.",
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
    const waited = limit.timeout === 0 ? "tried once" : `waited ${inSeconds(waitedMs)} s`;
    return told(
      error.code,
      `Held by ${describeHolder(holder)}: ${waited} for ${resourceId}, as ${limit.source} allows.`,
      lockFacts(error, holder),
    );
  }
  if (error instanceof LockContentionError) {
    const { holder, resourceId } = error;
    return told(
      error.code,
      `Held by ${describeHolder(holder)}, and somebody is waiting for ${resourceId} already.`,
      lockFacts(error, holder),
    );
  }
  switch (error.code) {
    case "lock_unavailable":
      return told(
        error.code,
        "The lock service does not answer. Nothing was sent: repeat the request.",
        lockFacts(error),
      );
    case "lock_lost":
      return told(error.code, "The lock was lost before anything was sent: repeat the request.");
    case "wait_cancelled":
      return told(error.code, "The service is shutting down. Nothing was sent: repeat the request.", {
        ...lockFacts(error),
        outcome: "none",
      });
    case "lock_timeout":
    case "lock_contended":
    case "lock_reentrancy":
      return unforeseen;
  }
}

/** What the wait was, and who is inside, as far as they are known. */
function lockFacts({ wait }: LockError, holder?: LockHolder): object {
  return {
    ...(wait === undefined ? {} : waitFacts(wait)),
    ...(holder === undefined ? {} : { holder: shownHolder(holder) }),
  };
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
