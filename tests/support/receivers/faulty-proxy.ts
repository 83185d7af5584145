import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { gzipSync } from "node:zlib";

const COMPRESSED_BYTES = 20_000_000;

/** What a proxy in front of a server does to one request. */
export type ProxyFault =
  | "none"
  | "answer lost"
  | "request lost"
  | "bad gateway"
  | "too many"
  | "endless answer"
  | "compressed zeros";

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly idempotencyKey: string | undefined;
  readonly body: string;
}

/** A proxy that does to one request after the other what it is told, and passes everything after that. */
export class FaultyProxy {
  readonly seen: SeenRequest[] = [];
  private readonly faults: ProxyFault[] = [];
  private readonly server: Server;
  private endless: Promise<void> = Promise.resolve();

  constructor(private readonly target: string) {
    this.server = createServer((request, response) => {
      void this.handle(request, response);
    });
  }

  async open(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  next(...faults: ProxyFault[]): void {
    this.faults.push(...faults);
  }

  /** Resolves when whoever had the endless answer has left. */
  async endlessAnswerIsOver(): Promise<void> {
    await this.endless;
  }

  private async answerWithoutEnd(response: ServerResponse): Promise<void> {
    this.endless = new Promise((resolve) => response.once("close", resolve));
    response.writeHead(200);
    while (!response.closed) {
      if (!response.write(" ".repeat(100_000))) await pause(1);
    }
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const { method = "GET", url: path = "/", headers } = request;
    this.seen.push({
      method,
      path,
      idempotencyKey: headers["idempotency-key"] as string | undefined,
      body,
    });
    const fault = this.faults.shift() ?? "none";
    if (fault === "request lost") return void request.socket.destroy();
    if (fault === "bad gateway") return void response.writeHead(502).end("<h1>Bad gateway</h1>");
    if (fault === "compressed zeros")
      return void response
        .writeHead(200, { "content-encoding": "gzip" })
        .end(gzipSync(Buffer.alloc(COMPRESSED_BYTES)));
    if (fault === "too many") return void response.writeHead(429, { "retry-after": "1" }).end("slowly");
    const forwarded = Object.entries(headers).filter(
      ([name]) => !["host", "connection", "content-length", "transfer-encoding"].includes(name),
    );
    const answer = await fetch(this.target + path, {
      method,
      headers: forwarded as [string, string][],
      body: body === "" ? null : body,
      redirect: "manual",
    });
    const text = await answer.text();
    if (fault === "answer lost") return void request.socket.destroy();
    if (fault === "endless answer") return this.answerWithoutEnd(response);
    const kept = [...answer.headers].filter(
      ([name]) => !/^(content-length|transfer-encoding|connection)$/.test(name),
    );
    response.writeHead(answer.status, Object.fromEntries(kept)).end(text);
  }
}
