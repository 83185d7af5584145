import type { IncomingMessage, Server, ServerResponse } from "node:http";

type WaitingFor = "the rest of the request" | "the answer to be read";

/** The requests of a server that are under way, and those of them that wait for nobody but their caller. */
export class SlowCallers {
  private readonly underWay = new Map<ServerResponse, IncomingMessage>();
  private waiting = new Map<ServerResponse, WaitingFor>();

  /** Told of each request that is over, after it is no longer counted. */
  constructor(server: Server, onOver: () => void = () => {}) {
    server.prependListener("request", (request: IncomingMessage, response: ServerResponse) => {
      this.underWay.set(response, request);
      response.once("close", () => {
        this.underWay.delete(response);
        onOver();
      });
    });
  }

  get count(): number {
    return this.underWay.size;
  }

  /** Ends the connections of those who still wait for what they waited for when this was called last. */
  cut(): void {
    const before = this.waiting;
    this.waiting = new Map();
    for (const [response, request] of this.underWay) {
      const what = waitsFor(request, response);
      if (what === undefined) continue;
      if (before.get(response) === what) response.destroy();
      else this.waiting.set(response, what);
    }
  }
}

function waitsFor(request: IncomingMessage, response: ServerResponse): WaitingFor | undefined {
  // Its turn on the connection has not come.
  if (response.socket === null) return undefined;
  if (response.writableEnded) return "the answer to be read";
  return request.complete ? undefined : "the rest of the request";
}
