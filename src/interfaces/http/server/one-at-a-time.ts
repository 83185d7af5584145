import type { IncomingMessage, RequestListener, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { answerMalformedHttp } from "./malformed-http";

/** How many requests a connection may send ahead of an answer. The answer to the last of them ends the connection. */
const MAX_AHEAD = 16;

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The response has said `close`. */
  over: boolean;
}

/**
 * Lets the requests of one connection in one after the other. Node would begin all that were sent ahead at once, keep
 * each answer until the ones before it are read, and say `close` on none but the first when the connection ends.
 */
class Connection {
  private current: Exchange | undefined;
  private readonly waiting: Exchange[] = [];
  private refusesMore = false;
  /** What ends the connection once all that was taken is answered. */
  private end: (() => void) | undefined;

  constructor(
    private readonly socket: Socket,
    private readonly handle: RequestListener,
  ) {
    // In the next tick, when Node has told the response that had the socket.
    socket.once("close", () => process.nextTick(() => this.abandonAll()));
  }

  take(request: IncomingMessage, response: ServerResponse): void {
    const exchange: Exchange = { request, response, over: false };
    response.once("close", () => this.closed(exchange));
    if (this.refusesMore || this.socket.destroyed) this.drop(exchange);
    else if (this.current === undefined) this.begin(exchange);
    else if (this.waiting.length < MAX_AHEAD) this.waiting.push(exchange);
    else {
      this.waiting.at(-1)?.response.setHeader("Connection", "close");
      this.refuseMore();
      this.drop(exchange);
    }
  }

  /** What comes now is no HTTP, or came too late: told in its turn, or it would pass for the answer to what came before. */
  malformed(error: NodeJS.ErrnoException): void {
    this.refuseMore();
    const last = this.waiting.at(-1) ?? this.current;
    if (last === undefined || error.code === "ECONNRESET") {
      answerMalformedHttp(error, this.socket);
    } else if (last.request.complete) {
      this.end ??= () => answerMalformedHttp(error, this.socket);
    } else if (last !== this.current) {
      this.waiting.pop();
      this.end = () => answerMalformedHttp(error, this.socket);
      this.drop(last);
    } else if (last.response.headersSent) {
      this.end = () => this.socket.destroySoon();
    } else {
      answerMalformedHttp(error, this.socket);
    }
  }

  private begin(exchange: Exchange): void {
    this.current = exchange;
    this.handle(exchange.request, exchange.response);
  }

  private closed(exchange: Exchange): void {
    exchange.over = true;
    if (exchange !== this.current) return;
    this.current = undefined;
    if (!this.socket.writable) {
      this.abandonAll();
      return;
    }
    const next = this.waiting.shift();
    if (next !== undefined) this.begin(next);
    else this.end?.();
  }

  /** All that was taken has come as a whole. More would pile up in Node's own list, however little becomes of it. */
  private refuseMore(): void {
    if (this.refusesMore) return;
    this.refusesMore = true;
    this.socket.pause();
    // Each request that is in memory asks for more of its body, though there is none.
    this.socket.on("resume", () => this.socket.pause());
  }

  /** Not even begun. */
  private drop(exchange: Exchange): void {
    process.nextTick(() => abandon(exchange));
  }

  private abandonAll(): void {
    this.refusesMore = true;
    for (const exchange of this.waiting.splice(0)) abandon(exchange);
    if (this.current !== undefined) abandon(this.current);
  }
}

/** Whoever waits for its `close` hears it, though Node never gave it the socket and so never says it. */
function abandon({ response, over }: Exchange): void {
  if (!over) response.emit("close");
}

/** Makes a server let the requests of each connection in one after the other. */
export function oneAtATime(server: Server, handle: RequestListener): void {
  const connections = new WeakMap<object, Connection>();
  const of = (socket: Socket): Connection => {
    let connection = connections.get(socket);
    if (connection === undefined) {
      connection = new Connection(socket, handle);
      connections.set(socket, connection);
    }
    return connection;
  };
  server.on("request", (request, response) => of(request.socket).take(request, response));
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => of(socket as Socket).malformed(error));
  server.on("connect", (_request, socket) => {
    of(socket as Socket).malformed(new Error("CONNECT is for proxies"));
  });
}
