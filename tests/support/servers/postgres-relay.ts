import { createServer, connect, type AddressInfo, type Socket } from "node:net";
import { once } from "node:events";

/** What happens to the next statement that comes by. */
export type Accident = "request lost" | "answer lost";
/** What does not get through from now on, over any connection. Nobody hangs up. */
export type Silence = "requests" | "answers" | "everything";

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
  /** Swallows that, and every goodbye, until `speak`. */
  fallSilent(silence: Silence): void;
  /** As `fallSilent("everything")`, but requests that are sent meanwhile arrive when it speaks again. */
  holdBack(): void;
  /** Lets everything through again. What was swallowed stays so, and what was cut off meanwhile ends. */
  speak(): void;
  /** Ends every connection that is open now. */
  cut(): void;
  close(): Promise<void>;
}

export async function relayTo(target: string): Promise<PostgresRelay> {
  const server = new URL(target);
  const sockets = new Set<Socket>();
  let accidents: Accident[] = [];
  const answers = new Map<number, number>();

  let silence: Silence | undefined;
  let held: (() => void)[] | undefined;
  const onSpeaking: (() => void)[] = [];
  const swallows = (what: Silence): boolean => silence === what || silence === "everything";
  /** A silent network does not tell that the other end has gone. */
  const tell = (ending: () => void): void => {
    if (silence === undefined) ending();
    else onSpeaking.push(ending);
  };

  const relay = createServer({ allowHalfOpen: true }, (client) => {
    const upstream = connect({
      port: Number(server.port || 5432),
      host: server.hostname,
      allowHalfOpen: true,
    });
    let started = false;
    let losingAnswer = false;
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("end", () => tell(() => other.end()));
      socket.on("close", () => {
        sockets.delete(socket);
        tell(() => {
          client.destroy();
          // What was sent still arrives.
          upstream.end();
        });
      });
    }
    client.on("data", (data) => {
      held?.push(() => upstream.write(data));
      if (swallows("requests")) return;
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
      if (swallows("answers")) return;
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
    fallSilent: (what) => {
      silence = what;
    },
    holdBack: () => {
      silence = "everything";
      held ??= [];
    },
    speak: () => {
      for (const arrive of held ?? []) arrive();
      silence = held = undefined;
      for (const ending of onSpeaking.splice(0)) ending();
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
