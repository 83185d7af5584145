import { Agent, request, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import type { HistoryRecorder } from "../linearizability/history/history-recorder";
import type { HttpRequest } from "../linearizability/history/http-call";

export interface Answer {
  readonly status: number;
  readonly code: string | undefined;
  readonly retryAfterMs: number;
  /** Without what differs from request to request. */
  readonly said: string;
  readonly paymentId: string;
}

const TIMEOUT_MS = 45_000;

/** A caller who keeps connections open, and asks again after an answer that says so. */
export class SteadyClient {
  private readonly agent = new Agent({ keepAlive: true });

  /** With a recorder, everything that this client sees is in its history. */
  constructor(private readonly recorder?: HistoryRecorder) {}

  /** Null if the connection failed, or patience ended: nobody knows what became of the request. */
  async post(
    url: string,
    path: string,
    key: string | null,
    body: object,
    patienceMs = TIMEOUT_MS,
  ): Promise<Answer | null> {
    try {
      const { response, content } = await this.send(url, { method: "POST", path, key, body }, patienceMs);
      const { requestId: _, ...said } = JSON.parse(content) as {
        readonly requestId?: string;
        readonly code?: string;
        readonly payment?: { readonly id: string };
      };
      return {
        status: response.statusCode ?? 0,
        code: said.code,
        retryAfterMs: Number(response.headers["retry-after"] ?? 0) * 1_000,
        said: JSON.stringify(said),
        paymentId: said.payment?.id ?? "",
      };
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return null;
    }
  }

  async get<T>(url: string, path: string): Promise<T> {
    return JSON.parse((await this.send(url, { method: "GET", path, key: null, body: null })).content) as T;
  }

  close(): void {
    this.agent.destroy();
  }

  private async send(url: string, asked: HttpRequest, patienceMs = TIMEOUT_MS): Promise<Received> {
    const record = this.recorder?.begin(asked);
    try {
      const received = await this.exchange(url, asked, patienceMs);
      const { response, content } = received;
      record?.({ status: response.statusCode ?? 0, body: JSON.parse(content) });
      return received;
    } catch (error) {
      record?.(null);
      throw error;
    }
  }

  private exchange(
    url: string,
    { method, path, key, body }: HttpRequest,
    patienceMs: number,
  ): Promise<Received> {
    const content = body === null ? undefined : JSON.stringify(body);
    return new Promise((resolve, reject) => {
      const headers = {
        ...(key === null ? {} : { "idempotency-key": key }),
        ...(content === undefined
          ? {}
          : { "content-type": "application/json", "content-length": String(Buffer.byteLength(content)) }),
      };
      const sent = request(url + path, { method, headers, agent: this.agent }, (response) => {
        text(response).then((read) => resolve({ response, content: read }), reject);
      });
      const timer = setTimeout(
        () => sent.destroy(new Error(`no answer within ${patienceMs} ms`)),
        patienceMs,
      );
      sent.on("close", () => clearTimeout(timer));
      sent.on("error", reject);
      sent.end(content);
    });
  }
}

interface Received {
  readonly response: IncomingMessage;
  readonly content: string;
}

/** What does not ask to come back. */
export function isFinal({ status, retryAfterMs }: Answer): boolean {
  return status !== 202 && retryAfterMs === 0;
}
