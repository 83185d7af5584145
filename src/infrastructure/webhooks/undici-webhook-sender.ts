import { Agent, buildConnector, request, type Dispatcher } from "undici";
import {
  WEBHOOK_ATTEMPT_MS,
  type AttemptFailure,
  type AttemptOutcome,
  type WebhookRequest,
  type WebhookSender,
} from "../../application/ports/events/webhook-sender";
import { WebhookError } from "../../domain/webhooks/errors";
import type { WebhookAllowances } from "./address-rules";
import {
  AddressForbiddenError,
  firstRefusal,
  guardedLookup,
  refusalOfHost,
  resolveBySystem,
  type Resolve,
} from "./guarded-lookup";
import { webhookUrl } from "./webhook-url";

/** Of an answer, so that a receiver cannot make this process read for ever. */
const READ_BYTES = 64 * 1024;
/** Of those, what operators can look at. */
const KEPT_BYTES = 1024;
const MAX_HEADER_BYTES = 16 * 1024;
const GONE = 410;
/** Errors hide in one another; nobody has to look into a ring of them. */
const MAX_CAUSES = 5;

export interface UndiciWebhookSenderOptions {
  readonly resolve?: Resolve;
  readonly attemptMs?: number;
  /** Certificates that are believed beside the system's own. */
  readonly ca?: string;
}

/**
 * Webhooks by HTTP/1.1. Keeps out of networks that are not public, by the address of each connection.
 * Survives receivers that are slow, endless, silent or lying: each attempt has one end.
 * Not for requests whose answer matters beyond its status.
 */
export class UndiciWebhookSender implements WebhookSender {
  private readonly agent: Agent;
  private readonly attemptMs: number;

  constructor(
    private readonly allowed: WebhookAllowances,
    { resolve = resolveBySystem, attemptMs = WEBHOOK_ATTEMPT_MS, ca }: UndiciWebhookSenderOptions = {},
  ) {
    this.attemptMs = attemptMs;
    const connect = buildConnector({
      lookup: guardedLookup(allowed, resolve),
      timeout: attemptMs,
      ...(ca === undefined ? {} : { ca }),
    });
    this.agent = new Agent({
      connect: (options, done) => {
        const refused = refusalOfHost(options.hostname, allowed);
        if (refused !== null) return done(refused, null);
        connect(options, (...[error, socket]) => {
          if (error !== null) return done(error, null);
          // Whatever was looked up: this is where the connection goes.
          const address = socket.remoteAddress ?? "";
          const reached = firstRefusal(options.hostname, [{ address, family: 0 }], allowed);
          if (reached === null) return done(null, socket);
          socket.destroy();
          done(reached, null);
        });
      },
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: attemptMs,
      bodyTimeout: attemptMs,
      // An answer is cut off at 64 kB; what is not read is not kept open either.
      keepAliveTimeout: 4_000,
    });
  }

  async send({ url, headers, body }: WebhookRequest): Promise<AttemptOutcome> {
    const beganMs = performance.now();
    const signal = AbortSignal.timeout(this.attemptMs);
    const took = () => Math.round(performance.now() - beganMs);
    try {
      // Allowances may have changed since the endpoint was made.
      const destination = webhookUrl(url, this.allowed);
      const answer = await inTime(
        request(destination, {
          dispatcher: this.agent,
          method: "POST",
          headers: { "content-type": "application/json", "user-agent": "Holdfast-Webhooks/1", ...headers },
          body,
          signal,
        }),
        signal,
      );
      const kept = await beginningOf(answer, signal);
      return { ...judged(answer), answer: kept, tookMs: took() };
    } catch (error) {
      return {
        result: "failed",
        status: null,
        failure: failureOf(error, signal),
        retryAfterMs: null,
        answer: wordsOf(error).slice(0, KEPT_BYTES),
        tookMs: took(),
      };
    }
  }

  /** What is under way is given up. */
  async close(): Promise<void> {
    await this.agent.destroy();
  }
}

/** A look-up cannot be called off; nobody waits for it. */
async function inTime<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let over: (() => void) | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    over = () => reject(signal.reason as Error);
    signal.addEventListener("abort", over, { once: true });
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    if (over !== undefined) signal.removeEventListener("abort", over);
    work.catch(() => {});
  }
}

function judged({ statusCode: status, headers }: Dispatcher.ResponseData) {
  if (status >= 200 && status < 300) {
    return { result: "delivered", status, failure: null, retryAfterMs: null } as const;
  }
  const retryAfterMs = retryAfterOf(headers["retry-after"]);
  return { result: status === GONE ? "gone" : "failed", status, failure: "status", retryAfterMs } as const;
}

/** The status is the receiver's word; what becomes of the rest of its answer changes nothing about it. */
async function beginningOf({ body }: Dispatcher.ResponseData, signal: AbortSignal): Promise<string> {
  const kept: Buffer[] = [];
  let read = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      if (read < KEPT_BYTES) kept.push(chunk.subarray(0, KEPT_BYTES - read));
      read += chunk.length;
      if (read >= READ_BYTES || signal.aborted) break;
    }
  } catch {
    // Cut off, or out of time.
  } finally {
    body.destroy();
  }
  // Without what a terminal or a database would trip over.
  return Buffer.concat(kept)
    .toString("utf8")
    .replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, "\ufffd");
}

function retryAfterOf(header: string | string[] | undefined): number | null {
  const text = Array.isArray(header) ? header[0] : header;
  if (text === undefined) return null;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  // Without the form of a date, `Date.parse` makes one of almost anything.
  const at = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}

function failureOf(error: unknown, signal: AbortSignal): AttemptFailure {
  const chain = causes(error);
  if (chain.some((one) => one instanceof AddressForbiddenError || one instanceof WebhookError)) {
    return "address_forbidden";
  }
  const codes = chain.map(({ code }) => code ?? "");
  if (signal.aborted || codes.some((code) => /TIMEOUT|TIMEDOUT/.test(code))) return "timeout";
  if (codes.some((code) => code === "ENOTFOUND" || code === "EAI_AGAIN")) return "name_unknown";
  if (codes.some((code) => /^ERR_(TLS|SSL)|CERT|SELF_SIGNED|EPROTO|UNABLE_TO/.test(code))) return "tls";
  return "connection";
}

function wordsOf(error: unknown): string {
  return causes(error)
    .map(({ message, code }) => message || (code ?? ""))
    .join(": ");
}

interface Cause {
  readonly message?: string;
  readonly code?: string;
  readonly cause?: unknown;
  readonly errors?: unknown;
}

/** By what they have and not by their class: an error of Node's own may be of another realm. */
function causes(error: unknown): readonly Cause[] {
  const found: Cause[] = [];
  let one = error as Cause | null | undefined;
  while (typeof one === "object" && one !== null && found.length < MAX_CAUSES) {
    found.push(one);
    if (Array.isArray(one.errors)) found.push(...(one.errors as Cause[]).slice(0, MAX_CAUSES));
    one = one.cause as Cause | null | undefined;
  }
  return found;
}
