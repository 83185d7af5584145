import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

const READY_FOR_QUERY = "Z".charCodeAt(0);
const IN_NO_TRANSACTION = "I".charCodeAt(0);
/** AuthenticationOk, BackendKeyData with a number that no server has, ReadyForQuery. */
const WELCOME = Buffer.concat([
  Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0]),
  Buffer.from([0x4b, 0, 0, 0, 12, 0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 1]),
  Buffer.from([0x5a, 0, 0, 0, 5, IN_NO_TRANSACTION]),
]);

interface Session {
  readonly socket: Socket;
  client: Socket | undefined;
  rest: Buffer;
}

export interface PoolingOptions {
  /** `session` leaves a client its session for as long as it is connected. */
  readonly pooling: "transaction" | "session";
  readonly sessions?: number;
  /** Which of the idle sessions is handed out. */
  readonly next?: "used last" | "used first";
  /** Whoever begins a transaction while no session is idle waits for one, for as long as that takes. */
  readonly whenEmpty?: "wait";
}

/**
 * Stands in for a pooling proxy: makes up the numbers of its sessions, and hands one of them to whoever begins a
 * transaction next.
 */
export async function poolingProxy(
  target: string,
  { pooling, sessions = 4, next = "used last", whenEmpty }: PoolingOptions,
): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = new URL(target);
  const idle: Session[] = [];
  let opened = 0;
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => sockets.delete(socket));
    return socket;
  };

  async function openSession(startup: Buffer): Promise<Session> {
    const socket = keep(connect(Number(server.port || 5432), server.hostname));
    const session: Session = { socket, client: undefined, rest: Buffer.alloc(0) };
    await new Promise<void>((resolve) => {
      socket.on("data", (data) => {
        session.client?.write(data);
        session.rest = Buffer.concat([session.rest, data]);
        while (session.rest.length >= 5 && session.rest.length > session.rest.readInt32BE(1)) {
          const isReady = session.rest[0] === READY_FOR_QUERY;
          const isFree = isReady && session.rest[5] === IN_NO_TRANSACTION;
          session.rest = session.rest.subarray(1 + session.rest.readInt32BE(1));
          if (isReady) resolve();
          if (isFree && session.client !== undefined && pooling === "transaction") giveBack(session);
        }
      });
      socket.write(startup);
    });
    return session;
  }

  function giveBack(session: Session): void {
    session.client = undefined;
    idle.push(session);
  }

  const proxy = createServer((client) => {
    keep(client);
    let mine: Session | undefined;
    let work: Promise<void> = Promise.resolve();
    const obey = async (data: Buffer, isStartup: boolean): Promise<void> => {
      if (isStartup) {
        while (opened < sessions) {
          opened += 1;
          idle.push(await openSession(data));
        }
        client.write(WELCOME);
        return;
      }
      if (mine?.client !== client) mine = next === "used last" ? idle.pop() : idle.shift();
      if (mine === undefined && whenEmpty === "wait") return new Promise(() => {});
      if (mine === undefined) throw new Error("out of sessions");
      mine.client = client;
      mine.socket.write(data);
    };
    let started = false;
    client.on("data", (data) => {
      const isStartup = !started;
      started = true;
      work = work.then(() => obey(data, isStartup));
    });
    client.on("close", () => {
      if (mine?.client === client) giveBack(mine);
    });
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const url = new URL(target);
  url.host = `127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  return {
    url: url.href,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await once(proxy, "close");
    },
  };
}
