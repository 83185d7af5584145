import { connect } from "node:net";

export interface RawAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  /** Everything that came, answers to requests behind the first one included. */
  readonly text: string;
}

/** A request as text, with whatever a proper client would refuse to send. It asks for the connection to be closed. */
export function rawRequest(
  method: string,
  target: string,
  headers: readonly (readonly [string, string])[] = [],
  body?: Buffer | string,
): Buffer {
  const bytes = body === undefined ? undefined : Buffer.from(body);
  const lines = [
    `${method} ${target} HTTP/1.1`,
    "Host: localhost",
    "Connection: close",
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(bytes === undefined ? [] : [`Content-Length: ${bytes.length}`]),
  ];
  return Buffer.concat([Buffer.from(`${lines.join("\r\n")}\r\n\r\n`), bytes ?? Buffer.alloc(0)]);
}

/**
 * Sends the bytes as they are, and resolves with what came back when the server has closed the connection. It need not have taken
 * all of them: an answer that came counts.
 */
export function sendRaw(port: number, bytes: Buffer | string): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    const socket = connect(port, "127.0.0.1", () => socket.write(bytes));
    socket.on("data", (part) => parts.push(part));
    socket.on("error", (error) => {
      if (parts.length === 0) reject(new Error("the connection broke", { cause: error }));
    });
    socket.on("close", () => resolve(parsed(Buffer.concat(parts).toString("latin1"))));
  });
}

function parsed(text: string): RawAnswer {
  const [head = "", ...rest] = text.split("\r\n\r\n");
  const [statusLine = "", ...lines] = head.split("\r\n");
  const headers = lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
  });
  return {
    status: Number(statusLine.split(" ")[1]),
    headers: new Map(headers),
    body: rest.join("\r\n\r\n"),
    text,
  };
}
