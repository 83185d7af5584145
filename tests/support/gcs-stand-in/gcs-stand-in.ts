import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { FaultPlan, type Fault } from "./fault-plan";
import { errorOfStatus } from "./google-error";
import { JsonApi, answerOf, type ApiAnswer, type ApiRequest } from "./json-api";
import { RequestLog, type LoggedRequest } from "./request-log";
import { routeOf } from "./route";
import { StorageState, type StorageStateOptions } from "./storage-state";

/**
 * An HTTP server that answers as Cloud Storage's JSON API does, as far as locks and snapshots use it, and that fails
 * on demand. For tests and for trying `gs://` locks without an account; it keeps everything in memory.
 */
export class GcsStandIn {
  readonly state: StorageState;
  readonly faults = new FaultPlan();
  readonly log = new RequestLog();
  private readonly api: JsonApi;
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    options: StorageStateOptions,
  ) {
    this.state = new StorageState(options);
    this.api = new JsonApi(this.state);
  }

  static async start(
    options: StorageStateOptions & { readonly port?: number; readonly buckets?: readonly string[] } = {},
  ): Promise<GcsStandIn> {
    const server = createServer();
    const standIn = new GcsStandIn(server, options);
    for (const bucket of options.buckets ?? []) standIn.state.createBucket(bucket);
    server.on("request", (request, response) => {
      // A client that goes away while a fault has its request is no error of the server.
      standIn.serve(request, response).catch(() => request.socket.destroy());
    });
    server.on("connection", (socket) => {
      standIn.sockets.add(socket);
      socket.on("close", () => standIn.sockets.delete(socket));
    });
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(options.port ?? 0, "127.0.0.1", resolve);
    });
    return standIn;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Also those on which no request is under way. */
  get openSockets(): number {
    return this.sockets.size;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const target = request.url ?? "/";
    const method = request.method ?? "GET";
    const route = routeOf(method, target);
    const entry: LoggedRequest = {
      operation: route.operation,
      method,
      target,
      ...(route.bucket === undefined ? {} : { bucket: route.bucket }),
      ...(route.object === undefined ? {} : { object: route.object }),
    };
    this.log.record(entry);

    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const fault =
      route.operation === "unknown" ? undefined : this.faults.take(route.operation, route.object, body);
    if (fault !== undefined) entry.fault = fault.kind;
    const call: ApiRequest = { ...route, origin: this.url, headers: request.headers, body };
    const answer = await this.apply(call, fault, request);
    if (answer === undefined) return;
    entry.status = answer.status;
    this.send(response, answer, fault, entry);
  }

  /** The answer to give, or nothing where the client is to hear none. */
  private async apply(
    call: ApiRequest,
    fault: Fault | undefined,
    request: IncomingMessage,
  ): Promise<ApiAnswer | undefined> {
    switch (fault?.kind) {
      case "reset":
        reset(request);
        return undefined;
      case "stall":
        return undefined;
      case "answer":
        return answerOf(errorOfStatus(fault.status), call.operation === "object.media");
      case "page": {
        const body = Buffer.from(fault.content);
        return { status: fault.status, headers: { "content-type": "text/html" }, body };
      }
      case "cut": {
        const answer = this.api.handle(call);
        return { ...answer, body: answer.body.subarray(0, fault.bytes) };
      }
      case "lose-answer":
        this.api.handle(call);
        reset(request);
        return undefined;
      case "stall-answer":
        this.api.handle(call);
        return undefined;
      case "land-late":
        reset(request);
        await fault.until;
        this.api.handle(call);
        return undefined;
      case "hold":
        await fault.until;
        return this.api.handle(call);
      case "wrong-checksum": {
        const answer = this.api.handle(call);
        const resource = JSON.parse(answer.body.toString("utf8")) as object;
        const wrong = { ...resource, crc32c: "AAAAAA==", md5Hash: "AAAAAAAAAAAAAAAAAAAAAA==" };
        return { ...answer, body: Buffer.from(JSON.stringify(wrong)) };
      }
      case "double": {
        const first = this.api.handle(call);
        const second = this.api.handle(call);
        return fault.answer === "first" ? first : second;
      }
      default:
        return this.api.handle(call);
    }
  }

  private send(
    response: ServerResponse,
    answer: ApiAnswer,
    fault: Fault | undefined,
    entry: LoggedRequest,
  ): void {
    response.writeHead(answer.status, {
      ...answer.headers,
      ...(answer.status === 304 || answer.status === 204
        ? {}
        : { "content-length": String(answer.body.length) }),
      // Whole seconds, cut off, by the storage's clock.
      date: new Date(this.state.now()).toUTCString(),
      server: "UploadServer",
      vary: "Origin, X-Origin",
    });
    if (fault?.kind !== "tear") {
      response.end(answer.body);
      return;
    }
    delete entry.status;
    response.write(answer.body.subarray(0, Math.floor(answer.body.length / 2)), () => {
      if (fault.then === "reset") response.socket?.resetAndDestroy();
    });
  }
}

function reset(request: IncomingMessage): void {
  request.socket.resetAndDestroy();
}
