import type { Dispatcher } from "undici";

/** Of an answer, so that a receiver cannot make this process read for ever. */
const READ_BYTES = 64 * 1024;
/** Of those, what operators can look at. */
export const KEPT_BYTES = 1024;

export interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly beginning: Buffer;
}

/** The time of an attempt was over before there was an answer. */
export class AttemptTimeoutError extends Error {
  readonly code = "ATTEMPT_TIMEOUT";

  constructor(readonly withinMs: number) {
    super(`there was no answer within ${withinMs} ms`);
  }
}

/**
 * One request and the beginning of its answer, with one end for all of it, the look-up of the name included. By the
 * dispatcher's own events: a stream and a signal for each webhook would cost as much again. The status is the receiver's
 * word; what becomes of the rest of its answer changes nothing about it.
 */
export class WebhookExchange implements Dispatcher.DispatchHandler {
  private controller: Dispatcher.DispatchController | undefined;
  private status: number | undefined;
  private retryAfter: string | undefined;
  private readonly kept: Buffer[] = [];
  private read = 0;
  private isOver = false;
  private resolve!: (answer: Answer) => void;
  private reject!: (error: unknown) => void;
  private readonly timer: NodeJS.Timeout;
  readonly answer = new Promise<Answer>((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });

  constructor(withinMs: number) {
    this.timer = setTimeout(() => this.end(new AttemptTimeoutError(withinMs)), withinMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    // A look-up cannot be called off; what it led to is.
    if (this.isOver) controller.abort(new Error("too late"));
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (status < 200) return;
    this.status = status;
    const retryAfter = headers["retry-after"];
    this.retryAfter = Array.isArray(retryAfter) ? retryAfter[0] : retryAfter;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.read < KEPT_BYTES) this.kept.push(chunk.subarray(0, KEPT_BYTES - this.read));
    this.read += chunk.length;
    if (this.read >= READ_BYTES) this.end(new Error("there is more than is read"));
  }

  onResponseEnd(): void {
    this.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    this.end(error);
  }

  /** With an error, the connection is given up. */
  end(error?: Error): void {
    if (this.isOver) return;
    this.isOver = true;
    clearTimeout(this.timer);
    const { status, retryAfter } = this;
    if (status === undefined) this.reject(error);
    else this.resolve({ status, retryAfter, beginning: Buffer.concat(this.kept) });
    if (error !== undefined) this.controller?.abort(error);
  }
}
