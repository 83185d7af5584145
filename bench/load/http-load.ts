// The least that can send requests and read answers: on a machine with two cores, a client that parses every header would
// measure itself. One request at a time on each connection, over connections that stay open.
import { connect, type Socket } from "node:net";
import { once } from "node:events";

const END_OF_HEAD = "\r\n\r\n";

export interface Load {
  /** Sends all requests, and resolves with how long that took. Rejects at the first answer that is not as expected. */
  run(requests: readonly string[], status: number): Promise<number>;
  close(): void;
}

export async function openLoad(port: number, connections: number): Promise<Load> {
  const lines = await Promise.all(Array.from({ length: connections }, () => Connection.open(port)));
  return {
    run: async (requests, status) => {
      const begun = performance.now();
      let next = 0;
      await Promise.all(
        lines.map(async (line) => {
          for (let request = requests[next++]; request !== undefined; request = requests[next++])
            await line.send(request, status);
        }),
      );
      return performance.now() - begun;
    },
    close: () => {
      for (const line of lines) line.close();
    },
  };
}

/** As a browser asks that has been there before, and as a program does. */
export function getRequest(path: string): string {
  const cookie = `holdfast_visitor=${"A".repeat(43)}`;
  return [
    `GET ${path} HTTP/1.1`,
    "Host: 127.0.0.1",
    "Accept: text/html, */*",
    `Cookie: ${cookie}`,
    "",
    "",
  ].join("\r\n");
}

const PART = { amount: 1000, currency: "EUR" };

export function captureRequest(paymentId: string, key: string, secret: string | null): string {
  return postRequest(`/payments/${paymentId}/capture`, PART, secret, [`Idempotency-Key: ${key}`]);
}

export function manyCapturesRequest(
  captures: readonly { readonly paymentId: string; readonly idempotencyKey: string }[],
  secret: string | null,
): string {
  return postRequest("/captures", { captures: captures.map((one) => ({ ...one, ...PART })) }, secret);
}

function postRequest(
  path: string,
  content: object,
  secret: string | null,
  headers: readonly string[] = [],
): string {
  const body = JSON.stringify(content);
  return [
    `POST ${path} HTTP/1.1`,
    "Host: 127.0.0.1",
    ...(secret === null ? [] : [`Authorization: Bearer ${secret}`]),
    ...headers,
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
    "",
    body,
  ].join("\r\n");
}

class Connection {
  private received = "";
  private wanted = 0;
  private deliver: ((answer: string) => void) | undefined;
  private fail: ((error: Error) => void) | undefined;

  private constructor(
    private socket: Socket,
    private readonly port: number,
  ) {
    this.listen();
  }

  private listen(): void {
    const { socket } = this;
    socket.setNoDelay(true);
    // One character per byte: an answer of ours is short, and lengths are in bytes.
    socket.setEncoding("latin1");
    socket.on("data", (data: string) => this.receive(data));
    socket.on("error", (error) => this.fail?.(error));
    socket.on("close", () => this.fail?.(new Error("the server closed the connection")));
  }

  static async open(port: number): Promise<Connection> {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    return new Connection(socket, port);
  }

  async send(request: string, status: number): Promise<void> {
    // While it was another side's turn, the server may have closed what nobody used.
    if (this.socket.destroyed) {
      this.socket = connect(this.port, "127.0.0.1");
      await once(this.socket, "connect");
      this.listen();
    }
    const answer = await new Promise<string>((resolve, reject) => {
      this.deliver = resolve;
      this.fail = reject;
      this.socket.write(request);
    });
    if (!answer.startsWith(`HTTP/1.1 ${status} `)) throw new Error(`unexpected answer:\n${answer}`);
  }

  close(): void {
    this.fail = undefined;
    this.socket.destroy();
  }

  private receive(data: string): void {
    this.received += data;
    if (this.wanted === 0) {
      const head = this.received.indexOf(END_OF_HEAD);
      if (head === -1) return;
      const length = /\r\ncontent-length: (\d+)/i.exec(this.received)?.[1];
      this.wanted = head + END_OF_HEAD.length + Number(length ?? 0);
    }
    if (this.received.length < this.wanted) return;
    const answer = this.received;
    this.received = "";
    this.wanted = 0;
    this.deliver?.(answer);
  }
}
