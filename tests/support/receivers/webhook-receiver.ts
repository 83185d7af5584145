import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface ReceivedWebhook {
  readonly path: string;
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly atMs: number;
}

/** Takes whatever is posted to it on this host, remembers it, and answers as it is told. */
export class WebhookReceiver {
  readonly received: ReceivedWebhook[] = [];
  answer: (webhook: ReceivedWebhook, response: ServerResponse) => void = (_webhook, response) =>
    response.writeHead(204).end();

  private constructor(private readonly server: Server) {}

  static async open(): Promise<WebhookReceiver> {
    const server = createServer();
    const receiver = new WebhookReceiver(server);
    server.on("request", (request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const headers = request.headers as Record<string, string>;
        const webhook: ReceivedWebhook = {
          path: request.url ?? "",
          id: headers["webhook-id"] ?? "",
          headers,
          body: Buffer.concat(chunks).toString(),
          atMs: Date.now(),
        };
        receiver.received.push(webhook);
        receiver.answer(webhook, response);
      });
    });
    await new Promise<void>((resolve) =>
      server.listen({ port: 0, host: "127.0.0.1", backlog: 1_000 }, resolve),
    );
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  at(path: string): readonly ReceivedWebhook[] {
    return this.received.filter((one) => one.path === path);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
