import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { exchange } from "./gcs-exchange";

/** Of a `Storage` of @google-cloud/storage, what says where the service is and who asks. */
export interface GcsClient {
  readonly apiEndpoint: string;
  readonly authClient: { getRequestHeaders(url?: string): Promise<object> };
  /** As in the client's own requests: where the endpoint is another one, nobody asks for credentials unless it is said. */
  readonly customEndpoint?: boolean;
  readonly useAuthWithCustomEndpoint?: boolean | undefined;
}

export interface GcsRequest {
  readonly method: "GET" | "POST" | "DELETE";
  /** Below the service's address. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

export interface GcsAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
}

/** What the client's own transport takes and gives, as far as it is used here. */
interface Transport {
  request(options: object): Promise<{
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly data: ArrayBuffer;
  }>;
}

/** Those that the client's transport looks at: behind a proxy, connections are its own matter. */
const PROXIES = ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"];

/**
 * Requests under the client's credentials, each with one bound from its first byte to the last of its answer. At the
 * bound its socket is destroyed: the client's own bound on a body leaves the socket open, and a process with an open
 * socket does not end. The client's transport carries them only where there is a proxy, of which it knows: it takes as
 * much computing as all the rest of a look, and a process that waits for a lock does little else.
 */
export class GcsRequests {
  private readonly agent: HttpAgent | undefined;
  private readonly underWay = new Set<AbortController>();
  private isClosed = false;

  constructor(
    private readonly client: GcsClient,
    private readonly timeoutMs: number,
    /** An emulator asks for no credentials, and there may be none. */
    private readonly isEmulated: boolean,
  ) {
    const isProxied = PROXIES.some((name) => (process.env[name] ?? "") !== "");
    const Agent = client.apiEndpoint.startsWith("http://") ? HttpAgent : HttpsAgent;
    this.agent = isProxied ? undefined : new Agent({ keepAlive: true });
  }

  async send(request: GcsRequest): Promise<GcsAnswer> {
    if (this.isClosed) throw new Error("the connection is closed");
    const ending = new AbortController();
    this.underWay.add(ending);
    const given = new Promise<never>((_, reject) => {
      ending.signal.addEventListener("abort", () => reject(ending.signal.reason as Error));
    });
    const timer = setTimeout(() => {
      ending.abort(new Error(`no answer within ${this.timeoutMs} ms`));
    }, this.timeoutMs);
    const { agent } = this;
    const answer =
      agent === undefined
        ? this.throughProxy(request, ending.signal)
        : this.direct(request, agent, ending.signal);
    try {
      // Also while credentials are fetched, which no signal ends.
      return await Promise.race([answer, given]);
    } finally {
      clearTimeout(timer);
      this.underWay.delete(ending);
    }
  }

  /** Ends it at once, whatever is under way. */
  close(): void {
    this.isClosed = true;
    for (const ending of this.underWay) ending.abort(new Error("the connection is closed"));
    this.agent?.destroy();
  }

  private async direct(request: GcsRequest, agent: HttpAgent, signal: AbortSignal): Promise<GcsAnswer> {
    const { method, path, query = {}, body } = request;
    const given = Object.entries(query).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
    const url = `${this.client.apiEndpoint}${path}${given.length === 0 ? "" : `?${given.join("&")}`}`;
    const identity = this.isEmulated ? {} : await this.client.authClient.getRequestHeaders(url);
    const headers = { ...identity, ...request.headers };
    return exchange(url, { method, headers, ...(body !== undefined && { body }) }, { agent, signal });
  }

  private async throughProxy(request: GcsRequest, signal: AbortSignal): Promise<GcsAnswer> {
    const { method, path, query, headers, body } = request;
    const {
      status,
      headers: answered,
      data,
    } = await this.transport().request({
      method,
      url: `${this.client.apiEndpoint}${path}`,
      ...(query !== undefined && { params: query }),
      ...(headers !== undefined && { headers }),
      ...(body !== undefined && { data: body }),
      responseType: "arraybuffer",
      validateStatus: () => true,
      // What is stored is wanted as it is: its length tells whether all of it came.
      compress: false,
      signal,
    });
    return { status, headers: answered, bytes: Buffer.from(data) };
  }

  private transport(): Transport {
    const { authClient } = this.client;
    if (!this.isEmulated) return authClient as unknown as Transport;
    const { DefaultTransporter } = authClient.constructor as unknown as {
      readonly DefaultTransporter: new () => Transport;
    };
    return new DefaultTransporter();
  }
}
