import { connect, type Socket } from "node:net";
import { HttpWorld } from "../../support/http-world";
import { rawRequest, sendRaw, type RawAnswer } from "../../support/raw-http";

jest.setTimeout(60_000);

const DECLARED = 2_000_000;
let http: HttpWorld;
beforeEach(async () => {
  http = await new HttpWorld().open();
});
afterEach(() => http.close());

const headers = [
  ["Content-Type", "application/json"],
  ["Idempotency-Key", "k"],
] as const;

function expectTooLarge(answer: Pick<RawAnswer, "status" | "body">): void {
  expect(answer.status).toBe(413);
  expect(JSON.parse(answer.body)).toMatchObject({ code: "body_too_large", status: 413 });
}

/** A connection that stays, and the text that came over it so far. */
function open(): { readonly socket: Socket; until(pattern: RegExp): Promise<string> } {
  const socket = connect(http.port, "127.0.0.1");
  let text = "";
  socket.on("data", (part) => (text += part.toString()));
  return {
    socket,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (pattern.test(text)) resolve(text);
        };
        socket.on("data", look);
        socket.once("close", () => reject(new Error(`closed after: ${text}`)));
        look();
      }),
  };
}

const head = (declared: number) =>
  `POST /payments HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${declared}\r\n` +
  `${headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`;

describe("a body that is declared too large", () => {
  test("is refused though none of it comes, and the connection serves on when all of it came", async () => {
    const { socket, until } = open();
    socket.write(head(DECLARED));
    const [, status, body] = /^HTTP\/1.1 (\d+) [^]*?\r\n\r\n([^]*\})$/.exec(await until(/\}$/)) ?? [];
    expectTooLarge({ status: Number(status), body: body ?? "" });

    socket.write("x".repeat(DECLARED));
    socket.write(rawRequest("GET", "/healthz"));
    expect(await until(/HTTP\/1.1 200 OK/)).toContain("body_too_large");
    socket.destroy();
  });

  test("is refused before the connection ends, where its sender wants that and sends nothing", async () => {
    const closing = head(DECLARED).replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    expectTooLarge(await sendRaw(http.port, closing));
  });

  test("is refused where all of it comes and the connection ends: the answer is not lost in what is unread", async () => {
    const whole = rawRequest("POST", "/payments", headers, "x".repeat(DECLARED * 8));
    for (let round = 0; round < 10; round += 1) expectTooLarge(await sendRaw(http.port, whole));
  });
});
