import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

/** Stands between a client and any server: falls silent on demand, and moves its address to another server. */
export interface TcpRelay {
  readonly url: string;
  /** From here on nothing arrives on either side, nobody is told, and new connections are taken and not answered. */
  silence(): void;
  /** New connections work again; those of before stay open, and nothing arrives on them any more. */
  drop(): void;
  /** New connections reach this server; those that are open stay where they are, as behind an address that moves. */
  moveTo(target: string): void;
  /** Ends every connection that is open now. */
  cut(): void;
  close(): Promise<void>;
}

export async function tcpRelayTo(target: string): Promise<TcpRelay> {
  let server = new URL(target);
  let isSilent = false;
  const sockets = new Set<Socket>();
  const goSilent: (() => void)[] = [];

  // Half open, so that nobody who falls silent takes leave by itself.
  const relay = createServer({ allowHalfOpen: true }, (client) => {
    sockets.add(client);
    client.on("close", () => sockets.delete(client));
    client.on("error", () => {});
    // Taken and never answered.
    if (isSilent) return void client.resume();
    const upstream = connect({ port: Number(server.port), host: server.hostname, allowHalfOpen: true });
    let isDead = false;
    goSilent.push(() => (isDead = true));
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on("error", () => {});
      from.on("data", (data) => !isDead && to.writable && to.write(data));
      from.on("end", () => !isDead && to.end());
      from.on("close", () => {
        sockets.delete(from);
        if (!isDead) to.destroy();
      });
    }
  });
  relay.listen(0, "127.0.0.1");
  await once(relay, "listening");

  const url = new URL(target);
  url.host = `127.0.0.1:${(relay.address() as AddressInfo).port}`;
  return {
    url: url.href,
    silence: () => {
      isSilent = true;
      for (const go of goSilent.splice(0)) go();
    },
    drop: () => {
      isSilent = false;
    },
    moveTo: (next) => {
      server = new URL(next);
    },
    cut: () => {
      for (const socket of sockets) socket.destroy();
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      relay.close();
      await once(relay, "close");
    },
  };
}
