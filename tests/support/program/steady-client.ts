import { Agent, request, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";

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

  /** Null if the connection failed: nobody knows what became of the request. */
  async post(url: string, path: string, key: string, body: object): Promise<Answer | null> {
    try {
      const { response, content } = await this.send("POST", url + path, key, JSON.stringify(body));
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
    return JSON.parse((await this.send("GET", url + path)).content) as T;
  }

  close(): void {
    this.agent.destroy();
  }

  private send(
    method: string,
    url: string,
    key?: string,
    body?: string,
  ): Promise<{ response: IncomingMessage; content: string }> {
    return new Promise((resolve, reject) => {
      const headers = {
        ...(key === undefined ? {} : { "idempotency-key": key }),
        ...(body === undefined
          ? {}
          : { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) }),
      };
      const sent = request(url, { method, headers, agent: this.agent, timeout: TIMEOUT_MS }, (response) => {
        text(response).then((content) => resolve({ response, content }), reject);
      });
      sent.on("timeout", () => sent.destroy(new Error(`no answer within ${TIMEOUT_MS} ms`)));
      sent.on("error", reject);
      sent.end(body);
    });
  }
}

/** What does not ask to come back. */
export function isFinal({ status, retryAfterMs }: Answer): boolean {
  return status !== 202 && retryAfterMs === 0;
}
