/** What is sent: all but the URL is the same at each attempt, the timestamp and its signatures apart. */
export interface WebhookRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Why an attempt failed, as its merchant is told. */
export type AttemptFailure =
  "status" | "timeout" | "address_forbidden" | "name_unknown" | "tls" | "connection" | "secret_unreadable";

export interface AttemptOutcome {
  /** `gone`: the receiver says that there will never be anybody there again. */
  readonly result: "delivered" | "failed" | "gone";
  /** Null where there was no answer. */
  readonly status: number | null;
  readonly failure: AttemptFailure | null;
  readonly retryAfterMs: number | null;
  /** The beginning of the answer, or what went wrong, for operators only. */
  readonly answer: string;
  readonly tookMs: number;
}

/**
 * Makes one attempt. Every adapter MUST
 * - never reject: whatever goes wrong is an outcome;
 * - take `WEBHOOK_ATTEMPT_MS` at most, the look-up of the name included;
 * - connect only to addresses that are allowed, checked on the address that is connected to, at each connection;
 * - follow no redirect, and keep no more of an answer than it says.
 */
export interface WebhookSender {
  send(request: WebhookRequest): Promise<AttemptOutcome>;
}

/** Where endpoints may be. Throws `WebhookError` in words that a merchant can act on. */
export interface WebhookDestinations {
  /** Resolves with the URL as it is stored. A name that nothing answers for yet is let in: each attempt looks again. */
  assertAllowed(url: string): Promise<string>;
}

/** One attempt, from the look-up of the name to the last byte that is read. */
export const WEBHOOK_ATTEMPT_MS = 15_000;
