import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import type Stripe from "stripe";
import { traceHeaders } from "../../telemetry/tracing/trace-context";

type Client = NonNullable<NonNullable<ConstructorParameters<typeof Stripe>[1]>["httpClient"]>;
type ClientResponse = Awaited<ReturnType<Client["makeRequest"]>>;

/** Larger than any object that is asked for here. */
const MAX_BODY_BYTES = 4 * 1024 * 1024;
/** An idle connection is closed before the other side does it in the middle of our next request. */
const IDLE_MS = 30_000;

/** The exchange failed on the way. */
export class StripeTransportError extends Error {
  override readonly name = "StripeTransportError";

  constructor(
    message: string,
    /** False only if the connection was never made, so that not a byte of the request can have arrived. */
    readonly mayHaveArrived: boolean,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/**
 * Exactly one attempt per call, and one bound for all of it. The official package's own transport repeats a reset
 * request even when told to repeat none, and then reports only how the repetition failed: a refused second attempt
 * would pass for a request that never left, although the first may have moved money. And its timeout starts anew with
 * each byte of the answer.
 */
export class StripeTransport implements Client {
  private readonly httpAgent = new HttpAgent({ keepAlive: true, timeout: IDLE_MS });
  private readonly httpsAgent = new HttpsAgent({ keepAlive: true, timeout: IDLE_MS });

  /** Replaced where time is not to pass by itself. */
  constructor(private readonly deadline: (ms: number) => AbortSignal = (ms) => AbortSignal.timeout(ms)) {}

  readonly getClientName = (): string => "holdfast";

  readonly makeRequest: Client["makeRequest"] = (
    host,
    port,
    path,
    method,
    headers,
    body,
    protocol,
    timeoutMs,
  ) => {
    const secure = protocol !== "http";
    const signal = this.deadline(timeoutMs);
    return new Promise<ClientResponse>((resolve, reject) => {
      let mayHaveArrived = false;
      const request = (secure ? httpsRequest : httpRequest)({
        host,
        port,
        path,
        method,
        headers: { ...headers, ...traceHeaders() },
        agent: secure ? this.httpsAgent : this.httpAgent,
        signal,
      });
      request.once("socket", (socket) => {
        // A connection that stands already carries the request at once.
        if (request.reusedSocket || !socket.connecting) mayHaveArrived = true;
        else socket.once(secure ? "secureConnect" : "connect", () => (mayHaveArrived = true));
      });
      request.once("error", (error) => reject(transportError(error, signal, mayHaveArrived)));
      request.once("response", (response) => resolve(new Answer(response, signal)));
      request.end(body);
    });
  };

  close(): void {
    this.httpAgent.destroy();
    this.httpsAgent.destroy();
  }
}

class Answer implements ClientResponse {
  constructor(
    private readonly response: IncomingMessage,
    private readonly signal: AbortSignal,
  ) {}

  readonly getStatusCode = (): number => this.response.statusCode ?? 0;
  readonly getHeaders: ClientResponse["getHeaders"] = () =>
    this.response.headers as ReturnType<ClientResponse["getHeaders"]>;
  readonly getRawResponse = (): unknown => this.response;
  readonly toStream = (): never => {
    throw new Error("nothing here is streamed");
  };

  readonly toJSON = async (): Promise<unknown> => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    try {
      for await (const chunk of this.response as AsyncIterable<Buffer>) {
        bytes += chunk.length;
        if (bytes > MAX_BODY_BYTES) throw new Error(`answer longer than ${MAX_BODY_BYTES} bytes`);
        chunks.push(chunk);
      }
    } catch (error) {
      throw transportError(error, this.signal, true);
    }
    const parsed: unknown = JSON.parse(Buffer.concat(chunks).toString("utf8"));
    // An answer from something in front of Stripe: the package would take it for a success.
    const failed = this.getStatusCode() >= 400;
    if (typeof parsed !== "object" || parsed === null || (failed && !("error" in parsed))) {
      throw new Error(`HTTP ${this.getStatusCode()} without an object of Stripe's`);
    }
    return parsed;
  };

  readonly dispose = (): void => {
    this.response.destroy();
  };
}

function transportError(error: unknown, signal: AbortSignal, mayHaveArrived: boolean): StripeTransportError {
  const code = (error as { code?: unknown } | null)?.code;
  const message = signal.aborted ? "timeout" : typeof code === "string" ? code : "connection failed";
  return new StripeTransportError(message, mayHaveArrived, { cause: error });
}
