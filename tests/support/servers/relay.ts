import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

/** An address whose server can change, as behind a proxy or a name: who is connected then is cut off. */
export class Relay {
  private readonly sockets = new Set<Socket>();
  private readonly server: Server;

  private constructor(private target: URL) {
    this.server = createServer((near) => {
      const far = connect(Number(this.target.port), this.target.hostname);
      for (const [one, another] of [
        [near, far],
        [far, near],
      ] as const) {
        this.sockets.add(one);
        one.on("error", () => another.destroy());
        one.on("close", () => {
          this.sockets.delete(one);
          another.destroy();
        });
        one.pipe(another);
      }
    });
  }

  static async open(url: string): Promise<Relay> {
    const relay = new Relay(new URL(url));
    await new Promise<void>((resolve) => relay.server.listen(0, "127.0.0.1", resolve));
    return relay;
  }

  /** What it led to, from here. */
  get url(): string {
    const url = new URL(this.target);
    url.port = String((this.server.address() as AddressInfo).port);
    return url.href;
  }

  leadTo(url: string): void {
    this.target = new URL(url);
    for (const socket of this.sockets) socket.destroy();
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }
}
