import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What becomes of a request: an answer with that status and nothing else, or no answer, before or after it was carried out. */
export type S3Fault = number | "lost" | "answer lost";

interface Stored {
  readonly body: Buffer;
  readonly etag: string;
  readonly lastModified: Date;
}

interface Answer {
  readonly status: number;
  readonly code?: string;
  readonly stored?: Stored;
}

/** Objects in buckets, as S3 keeps them as far as conditional requests go: in memory, with the digest as ETag. */
export class S3StandIn {
  /** Asked about each request; nothing goes wrong where it answers undefined. */
  fault: (request: { readonly method: string; readonly key: string }) => S3Fault | undefined = () =>
    undefined;
  private readonly objects = new Map<string, Stored>();

  private constructor(
    private readonly server: Server,
    private readonly bucket: string,
  ) {}

  static async start(bucket: string): Promise<S3StandIn> {
    const server = createServer();
    const standIn = new S3StandIn(server, bucket);
    server.on("request", (request, response) => void standIn.serve(request, response));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return standIn;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, "close");
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const [, bucket = "", key = ""] = /^\/([^/]*)\/(.*)$/.exec(request.url ?? "") ?? [];
    const fault = this.fault({ method: request.method ?? "", key });
    if (fault === "lost") return void request.socket.destroy();
    const answer =
      typeof fault === "number"
        ? { status: fault, code: "Fault" }
        : bucket === this.bucket
          ? this.carryOut(request, decodeURIComponent(key), Buffer.concat(chunks))
          : { status: 404, code: "NoSuchBucket" };
    if (fault === "answer lost") return void request.socket.destroy();
    const { status, code, stored } = answer;
    const facts =
      stored === undefined ? {} : { ETag: stored.etag, "Last-Modified": stored.lastModified.toUTCString() };
    response.writeHead(status, { Date: new Date().toUTCString(), ...facts });
    response.end(code === undefined ? stored?.body : `<Error><Code>${code}</Code></Error>`);
  }

  /** In one go, as everything in this process: nobody comes in between. */
  private carryOut({ method, headers }: IncomingMessage, key: string, body: Buffer): Answer {
    const stored = this.objects.get(key);
    const ifMatch = headers["if-match"];
    if (headers["if-none-match"] === "*" && stored !== undefined)
      return { status: 412, code: "PreconditionFailed" };
    if (stored === undefined && (method !== "PUT" || ifMatch !== undefined))
      return method === "DELETE" ? { status: 204 } : { status: 404, code: "NoSuchKey" };
    if (ifMatch !== undefined && stored?.etag !== ifMatch) return { status: 412, code: "PreconditionFailed" };
    if (method === "PUT") {
      const etag = `"${createHash("md5").update(body).digest("hex")}"`;
      const written = { body, etag, lastModified: new Date() };
      this.objects.set(key, written);
      return { status: 200, stored: { ...written, body: Buffer.alloc(0) } };
    }
    if (method === "DELETE") {
      this.objects.delete(key);
      return { status: 204 };
    }
    return { status: 200, ...(stored !== undefined && { stored }) };
  }
}
