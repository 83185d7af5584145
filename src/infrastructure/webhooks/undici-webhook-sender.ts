import { Agent, buildConnector } from "undici";
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
import { KEPT_BYTES, WebhookExchange, type Answer } from "./webhook-exchange";
import { webhookUrl } from "./webhook-url";

/** URLs; two kilobytes each at the most. */
const REMEMBERED = 1_000;
const MAX_HEADER_BYTES = 16 * 1024;
const GONE = 410;
/** Errors hide in one another; nobody has to look into a ring of them. */
const MAX_CAUSES = 5;

interface Destination {
  readonly origin: string;
  readonly path: string;
}

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
  private readonly destinations = new Map<string, Destination>();

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
      // Each exchange has one end of its own.
      headersTimeout: 0,
      bodyTimeout: 0,
      // An answer is cut off at 64 kB; what is not read is not kept open either.
      keepAliveTimeout: 4_000,
    });
  }

  async send({ url, headers, body }: WebhookRequest): Promise<AttemptOutcome> {
    const beganMs = performance.now();
    const took = () => Math.round(performance.now() - beganMs);
    try {
      const { origin, path } = this.destinationOf(url);
      const exchange = new WebhookExchange(this.attemptMs);
      this.agent.dispatch(
        {
          origin,
          path,
          method: "POST",
          headers: { "content-type": "application/json", "user-agent": "Holdfast-Webhooks/1", ...headers },
          body,
        },
        exchange,
      );
      const answer = await exchange.answer;
      return { ...judged(answer), answer: readable(answer.beginning), tookMs: took() };
    } catch (error) {
      return {
        result: "failed",
        status: null,
        failure: failureOf(error),
        retryAfterMs: null,
        answer: wordsOf(error).slice(0, KEPT_BYTES),
        tookMs: took(),
      };
    }
  }

  /** Allowances may have changed since the endpoint was made: each URL is judged, once by each process. */
  private destinationOf(url: string): Destination {
    const known = this.destinations.get(url);
    if (known !== undefined) return known;
    const { origin, pathname, search } = webhookUrl(url, this.allowed);
    const destination = { origin, path: pathname + search };
    if (this.destinations.size >= REMEMBERED) this.destinations.clear();
    this.destinations.set(url, destination);
    return destination;
  }

  /** What is under way is given up. */
  async close(): Promise<void> {
    await this.agent.destroy();
  }
}

function judged({ status, retryAfter }: Answer) {
  if (status >= 200 && status < 300) {
    return { result: "delivered", status, failure: null, retryAfterMs: null } as const;
  }
  const retryAfterMs = retryAfterOf(retryAfter);
  return { result: status === GONE ? "gone" : "failed", status, failure: "status", retryAfterMs } as const;
}

/** Without what a terminal or a database would trip over. */
function readable(beginning: Buffer): string {
  return beginning.toString("utf8").replace(/[\u0000-\u0008\u000b-\u001f\u007f]/g, "\ufffd");
}

function retryAfterOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  // Without the form of a date, `Date.parse` makes one of almost anything.
  const at = /^[A-Z][a-z]{2}, /.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}

function failureOf(error: unknown): AttemptFailure {
  const chain = causes(error);
  if (chain.some((one) => one instanceof AddressForbiddenError || one instanceof WebhookError)) {
    return "address_forbidden";
  }
  const codes = chain.map(({ code }) => code ?? "");
  if (codes.some((code) => /TIMEOUT|TIMEDOUT/.test(code))) return "timeout";
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
