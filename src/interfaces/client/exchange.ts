import { isProblem } from "./answer-shape";
import {
  HoldfastAbortedError,
  HoldfastAnswerTooLargeError,
  HoldfastRefusal,
  HoldfastUnreachableError,
} from "./client-errors";
import { textWithin } from "./text-within";
import { LONGEST_TIMER_MS, waitFor } from "./wait-for";

/** What a request is, whatever it is about. */
export interface WireRequest {
  readonly method: string;
  readonly url: string;
  readonly body: unknown;
  readonly idempotencyKey: string | null;
  /** Whether that is the body of an answer to it. */
  readonly isAnswer: (body: unknown) => boolean;
  /** Whether sending it again does no more than sending it once. */
  readonly isRepeatable: boolean;
}

export interface WireAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly isReplayed: boolean;
  readonly retryAfterMs: number | null;
}

export interface ExchangeOptions {
  readonly apiKey: string | null;
  readonly fetch: typeof fetch;
  /** How long one answer is waited for. */
  readonly answerWithinMs: number;
  /** How much of one answer is read. */
  readonly answerLimitBytes: number;
}

export interface Patience {
  /** For how long a request is repeated, all attempts together. */
  readonly withinMs: number;
  readonly signal?: AbortSignal | undefined;
}

const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5_000;

/**
 * Sends a request until it is answered, or refused for good, or the time is over. Only what may be repeated is: requests
 * with a key, and those that change nothing.
 */
export async function exchange(
  request: WireRequest,
  options: ExchangeOptions,
  patience: Patience,
): Promise<WireAnswer> {
  return namingTheKey(request.idempotencyKey, patience.signal, () => exchanged(request, options, patience));
}

/** Whoever ends a call that moves money has to know under which key it may have moved. */
export async function namingTheKey<T>(
  key: string | null,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (key === null || signal?.aborted !== true || error instanceof HoldfastAbortedError) throw error;
    // What the server said meanwhile says more.
    if (error instanceof HoldfastRefusal) throw error;
    throw new HoldfastAbortedError(signal.reason, key);
  }
}

async function exchanged(
  request: WireRequest,
  options: ExchangeOptions,
  { withinMs, signal }: Patience,
): Promise<WireAnswer> {
  const endsAtMs = performance.now() + withinMs;
  for (let attempt = 0; ; attempt += 1) {
    const leftMs = endsAtMs - performance.now();
    const outcome = await attempted(request, options, Math.max(1, leftMs), signal);
    if ("body" in outcome) return outcome;
    const waitMs = Math.max(outcome.retryAfterMs ?? 0, backoffMs(attempt));
    const mayRepeat = request.isRepeatable && outcome.isPassing;
    if (!mayRepeat || performance.now() + waitMs >= endsAtMs) throw outcome.error;
    await waitFor(waitMs, signal);
  }
}

interface Failed {
  readonly error: Error;
  readonly isPassing: boolean;
  readonly retryAfterMs: number | null;
}

async function attempted(
  { method, url, body, idempotencyKey, isAnswer }: WireRequest,
  { apiKey, fetch: send, answerWithinMs, answerLimitBytes }: ExchangeOptions,
  leftMs: number,
  signal: AbortSignal | undefined,
): Promise<WireAnswer | Failed> {
  signal?.throwIfAborted();
  const limitMs = Math.min(answerWithinMs, leftMs);
  const inTime = AbortSignal.timeout(Math.min(LONGEST_TIMER_MS, Math.ceil(limitMs)));
  // A mistake in what is sent is the caller's, and not worth another attempt.
  const sent = body === undefined ? null : JSON.stringify(body);
  const said = new Headers({
    Accept: "application/json",
    ...(body !== undefined && { "Content-Type": "application/json" }),
    ...(idempotencyKey !== null && { "Idempotency-Key": idempotencyKey }),
    ...(apiKey !== null && { Authorization: `Bearer ${apiKey}` }),
  });
  const unreachable = (reason: string, retryAfterMs: number | null = null, isPassing = true): Failed => ({
    error: new HoldfastUnreachableError(url, reason, idempotencyKey, retryAfterMs),
    isPassing,
    retryAfterMs,
  });
  let response: Response;
  let text: string | null;
  try {
    response = await send(url, {
      method,
      headers: said,
      // Whoever is redirected would show the key elsewhere.
      redirect: "manual",
      signal: signal === undefined ? inTime : AbortSignal.any([inTime, signal]),
      body: sent,
    });
    text = await textWithin(response, answerLimitBytes);
  } catch (error) {
    if (signal?.aborted === true) throw error;
    return unreachable(reasonOf(error, limitMs));
  }
  // Sent again, the request would have the same answer.
  if (text === null)
    return {
      error: new HoldfastAnswerTooLargeError(url, answerLimitBytes, idempotencyKey),
      isPassing: false,
      retryAfterMs: null,
    };
  const { status, headers } = response;
  const parsed = parsedJson(text);
  const retryAfterMs = retryAfter(headers);
  if (response.ok && isAnswer(parsed))
    return { status, body: parsed, isReplayed: headers.get("idempotency-replayed") === "true", retryAfterMs };
  if (isProblem(parsed)) {
    const error = new HoldfastRefusal(parsed, idempotencyKey, retryAfterMs);
    return { error, isPassing: parsed.retryable, retryAfterMs };
  }
  // A proxy in between: what it says of servers that are away, or of too many requests, passes.
  return unreachable(
    `status ${status}, which is no answer of a Holdfast server`,
    retryAfterMs,
    status === 429 || status >= 500,
  );
}

function backoffMs(attempt: number): number {
  const most = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt);
  return most / 2 + Math.random() * (most / 2);
}

function retryAfter(headers: Headers): number | null {
  const said = headers.get("retry-after");
  if (said === null) return null;
  const seconds = /^\d+$/.test(said) ? Number(said) : (Date.parse(said) - Date.now()) / 1_000;
  return Number.isFinite(seconds) ? Math.max(0, seconds * 1_000) : null;
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `fetch` hides what happened in the cause of its error. */
function reasonOf(error: unknown, limitMs: number): string {
  const { name, message, cause } = error as { name?: string; message?: string; cause?: { code?: string } };
  if (name === "TimeoutError") return `none within ${Math.round(limitMs / 1_000)} s`;
  return cause?.code ?? message ?? String(error);
}
