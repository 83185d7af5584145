import type { Problem } from "./generated/schemas";

/** The server's refusal, in its own words. */
export class HoldfastRefusal extends Error {
  override readonly name = "HoldfastRefusal";
  readonly code: Problem["code"];
  readonly status: number;

  constructor(
    readonly problem: Problem,
    /** The key of the request, if it had one: the same request with it is the same movement. */
    readonly idempotencyKey: string | null,
    /** When it is worth asking again, if the server said so. */
    readonly retryAfterMs: number | null = null,
  ) {
    super(`${problem.detail} (${problem.code})${partsOf(problem)}`);
    this.code = problem.code;
    this.status = problem.status;
  }

  /** Whether the same call may succeed later. The client has repeated it already, as long as it was allowed to. */
  get isRetryable(): boolean {
    return this.problem.retryable;
  }
}

/** Which parts of the request the server means. */
function partsOf({ errors }: { readonly errors?: unknown }): string {
  const listed: readonly unknown[] = Array.isArray(errors) ? errors : [];
  const told = listed.flatMap((one) => {
    const { pointer, parameter, detail } = (one ?? {}) as Readonly<Record<string, unknown>>;
    const part = pointer ?? parameter;
    return typeof part === "string" && typeof detail === "string" ? [`${part} ${detail}`.trim()] : [];
  });
  return told.length === 0 ? "" : `: ${told.join("; ")}`;
}

/** The call itself is a mistake. Nothing was sent, and no key was stored for it. */
export class HoldfastUsageError extends TypeError {
  override readonly name = "HoldfastUsageError";

  constructor(
    readonly code: "invalid_name" | "invalid_body" | "invalid_option",
    message: string,
  ) {
    super(message);
  }
}

/** No answer of a Holdfast server came. What was sent may have been carried out: make the same call again, under the same name. */
export class HoldfastUnreachableError extends Error {
  override readonly name = "HoldfastUnreachableError";
  readonly code = "unreachable";

  constructor(
    url: string,
    reason: string,
    readonly idempotencyKey: string | null,
    /** When it is worth asking again, if somebody in between said so. */
    readonly retryAfterMs: number | null = null,
  ) {
    super(
      `no answer from Holdfast at ${url}: ${reason}` +
        (idempotencyKey === null
          ? ""
          : `; the same call under the same name (key ${idempotencyKey}) moves money at most once`),
    );
  }
}

/** The caller's signal ended a call that moves money. It has the name of the signal's reason, such as AbortError. */
export class HoldfastAbortedError extends Error {
  readonly code = "aborted";

  constructor(
    reason: unknown,
    readonly idempotencyKey: string,
  ) {
    super(
      `the call was aborted by its signal, and may have been carried out; the same call under the same name (key ${idempotencyKey}) ` +
        "moves money at most once",
      { cause: reason },
    );
    this.name = reason instanceof Error ? reason.name : "AbortError";
  }
}

/** An answer is longer than the client reads. What was sent may have been carried out: the same name still means the same movement. */
export class HoldfastAnswerTooLargeError extends Error {
  override readonly name = "HoldfastAnswerTooLargeError";
  readonly code = "answer_too_large";

  constructor(
    url: string,
    readonly limitBytes: number,
    readonly idempotencyKey: string | null,
  ) {
    super(`the answer of ${url} has more than ${limitBytes} bytes, which is not read: see answerLimitBytes`);
  }
}

/** The outcome is still not known: the gateway has not confirmed it, decides later, or waits for the customer. */
export class HoldfastNotSettledError extends Error {
  override readonly name = "HoldfastNotSettledError";
  readonly code = "not_settled";

  constructor(
    readonly idempotencyKey: string,
    /** When it is worth asking again, as the server says. */
    readonly retryAfterMs: number,
  ) {
    const seconds = Math.ceil(retryAfterMs / 1_000);
    super(`the outcome is not known yet; ask again in ${seconds} s, or wait for the payment's event`);
  }
}

/** What was received is not to be believed. */
export class WebhookVerificationError extends Error {
  override readonly name = "WebhookVerificationError";

  constructor(
    readonly code:
      | "body_not_raw"
      | "headers_missing"
      | "timestamp_out_of_tolerance"
      | "signature_mismatch"
      | "malformed_body",
    message: string,
  ) {
    super(message);
  }
}
