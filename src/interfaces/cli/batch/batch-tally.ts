import type { BatchCapture } from "./captures-in-file";

/** A result of `POST /captures`, as far as the command line looks at it. */
export interface WireResult {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: {
    readonly code?: string;
    readonly detail?: string;
    readonly retryable?: boolean;
    readonly paymentStatus?: string;
    readonly capture?: { readonly status: string };
  };
}

/** A capture that was not made, with why: a line that `--batch` takes again. */
export interface FailedCapture extends BatchCapture {
  readonly failed: { readonly status: number; readonly code: string; readonly detail: string };
}

/** What became of the captures of a batch. */
export class BatchTally {
  captured = 0;
  /** Of these, how many had been captured before. */
  replayed = 0;
  /** Refused for good, with their keys. */
  refused = 0;
  /** May still succeed: the lock was held, the gateway or the customer has not confirmed, a service was down. */
  notNow = 0;
  readonly failures: FailedCapture[] = [];

  constructor(readonly total: number) {}

  get done(): number {
    return this.captured + this.refused + this.notNow;
  }

  add(capture: BatchCapture, { status, headers, body }: WireResult): void {
    if (status === 201) {
      this.captured += 1;
      if (headers["Idempotency-Replayed"] === "true") this.replayed += 1;
      return;
    }
    if (mayStillBeCaptured(status, body)) this.notNow += 1;
    else this.refused += 1;
    this.failures.push({ ...capture, failed: { status, ...why(status, body) } });
  }

  /** How often each code was the reason, most often first. */
  get reasons(): readonly (readonly [code: string, count: number])[] {
    const counts = new Map<string, number>();
    for (const { failed } of this.failures) counts.set(failed.code, (counts.get(failed.code) ?? 0) + 1);
    return [...counts].sort(([, a], [, b]) => b - a);
  }
}

/** A customer who has not confirmed yet may do so before the command is repeated. */
function mayStillBeCaptured(status: number, { retryable, paymentStatus }: WireResult["body"]): boolean {
  return status === 202 || retryable === true || paymentStatus === "requires_action";
}

function why(status: number, { code, detail, capture }: WireResult["body"]) {
  if (status !== 202) return { code: code ?? "unknown", detail: detail ?? "The server gave no reason." };
  return capture?.status === "pending"
    ? { code: "outcome_pending", detail: "The gateway has taken the order and decides later." }
    : { code: "outcome_unknown", detail: "The gateway has not confirmed the outcome yet." };
}
