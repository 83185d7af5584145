import { createServer, connect, type AddressInfo, type Socket } from "node:net";
import { once } from "node:events";

/** What happens to the next statement that comes by. */
export type Accident = "request lost" | "answer lost";

const READY_FOR_QUERY = "Z".charCodeAt(0);

/** Stands between a client and PostgreSQL: counts how often the client was answered, and loses messages on demand. */
export interface PostgresRelay {
  readonly url: string;
  /** Answers that let the client go on: one for each round trip. */
  readonly roundTrips: number;
  /** How many messages of this type the server has sent: `1` is a statement parsed, `T` its columns told. */
  answers(type: string): number;
  /** Lets these happen to the next statements, one each, and ends the connection each time. */
  lose(...accidents: readonly Accident[]): void;
  /** Ends every connection that is open now. */
  cut(): void;
  close(): Promise<void>;
}

export async function relayTo(target: string): Promise<PostgresRelay> {
  const server = new URL(target);
  const sockets = new Set<Socket>();
  let accidents: Accident[] = [];
  const answers = new Map<number, number>();

  const relay = createServer((client) => {
    const upstream = connect(Number(server.port || 5432), server.hostname);
    let started = false;
    let losingAnswer = false;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        // What was sent still arrives.
        upstream.end();
      });
    }
    client.on("data", (data) => {
      const accident = started ? accidents.shift() : undefined;
      losingAnswer = accident === "answer lost";
      if (accident === "request lost") client.destroy();
      else upstream.write(data);
    });
    const messages = messageReader((type) => {
      answers.set(type, (answers.get(type) ?? 0) + 1);
      started ||= type === READY_FOR_QUERY;
    });
    upstream.on("data", (data) => {
      if (losingAnswer) {
        client.destroy();
      } else {
        messages(data);
        client.write(data);
      }
    });
  });
  relay.listen(0, "127.0.0.1");
  await once(relay, "listening");

  const url = new URL(target);
  url.host = `127.0.0.1:${(relay.address() as AddressInfo).port}`;
  return {
    url: url.href,
    get roundTrips() {
      return answers.get(READY_FOR_QUERY) ?? 0;
    },
    answers: (type) => answers.get(type.charCodeAt(0)) ?? 0,
    lose: (...next) => {
      accidents = [...next];
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

/** Tells the type of each message of the server: a byte, then the length of the rest. */
function messageReader(tell: (type: number) => void): (data: Buffer) => void {
  let rest = Buffer.alloc(0);
  return (data) => {
    rest = Buffer.concat([rest, data]);
    while (rest.length >= 5 && rest.length > rest.readInt32BE(1)) {
      tell(rest[0]!);
      rest = rest.subarray(1 + rest.readInt32BE(1));
    }
  };
}
