import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** Counts whoever connects, on every address of this host and on one port. */
export class CountingListener {
  connections = 0;

  private constructor(
    private readonly server: Server,
    readonly port: number,
  ) {
    server.on("connection", () => (this.connections += 1));
  }

  static async open(): Promise<CountingListener> {
    const server = createServer((_request, response) => response.end("ok"));
    // Both families, where the host has both.
    await new Promise<void>((resolve) => {
      server.once("error", () => server.listen(0, "0.0.0.0", resolve));
      server.listen(0, "::", resolve);
    });
    return new CountingListener(server, (server.address() as AddressInfo).port);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
