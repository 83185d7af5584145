import { connect, type Socket } from "node:net";
import { HttpWorld } from "../../support/worlds/http-world";
import { rawRequest, sendRaw, type RawAnswer } from "../../support/program/raw-http";

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
  test("a body that is declared too large is refused though none of it comes, and the connection serves on when all of it came", async () => {
    const { socket, until } = open();
    socket.write(head(DECLARED));
    const [, status, body] = /^HTTP\/1.1 (\d+) [^]*?\r\n\r\n([^]*\})$/.exec(await until(/\}$/)) ?? [];
    expectTooLarge({ status: Number(status), body: body ?? "" });

    socket.write("x".repeat(DECLARED));
    socket.write(rawRequest("GET", "/healthz"));
    expect(await until(/HTTP\/1.1 200 OK/)).toContain("body_too_large");
    socket.destroy();
  });

  test("a body that is declared too large is refused before the connection ends, where its sender wants that and sends nothing", async () => {
    const closing = head(DECLARED).replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    expectTooLarge(await sendRaw(http.port, closing));
  });

  test("a body that is declared too large is refused where all of it comes and the connection ends: the answer is not lost in what is unread", async () => {
    const whole = rawRequest("POST", "/payments", headers, "x".repeat(DECLARED * 8));
    for (let round = 0; round < 10; round += 1) expectTooLarge(await sendRaw(http.port, whole));
  });
});

describe("a body in chunks", () => {
  const chunked = [...headers, ["Transfer-Encoding", "chunked"]]
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("");
  const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;

  test("a body in chunks that never ends is refused as soon as it is too large, and nothing behind it counts as a request", async () => {
    const { socket, until } = open();
    socket.on("error", () => {}); // it is closed while we go on sending
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.write(`POST /payments HTTP/1.1\r\nHost: localhost\r\n${chunked}\r\n${chunk("x".repeat(70_000))}`);
    const [, status, answerHeaders, body] =
      /^HTTP\/1.1 (\d+) ([^]*?)\r\n\r\n([^]*\})$/.exec(await until(/\}$/)) ?? [];
    expectTooLarge({ status: Number(status), body: body ?? "" });
    expect(answerHeaders).toContain("Connection: close");
    const smuggled = JSON.stringify({ amount: 5, currency: "EUR", paymentMethod: "tok_ok" });
    socket.write(chunk("x".repeat(1_000)));
    socket.write("0\r\n\r\n");
    socket.write(rawRequest("POST", "/payments", headers, smuggled));
    await closed;
    expect(http.world.gateway.calls).toEqual([]);
    expect(http.accessLog.map(({ status: seen }) => seen)).toEqual([413]);
  });

  test("a body in chunks whose sender goes on for ever gets its connection closed", async () => {
    const { socket } = open();
    socket.on("error", () => {});
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.write(`POST /payments HTTP/1.1\r\nHost: localhost\r\n${chunked}\r\n`);
    const going = setInterval(() => socket.write(chunk("x".repeat(30_000))), 20);
    await closed;
    clearInterval(going);
    expect(http.accessLog.map(({ status: seen }) => seen)).toEqual([413]);
  });

  test("a body in chunks of the right size is read, however it is cut", async () => {
    const text = JSON.stringify({
      amount: 5,
      currency: "EUR",
      paymentMethod: "tok_ok",
      reference: "caf\u00e9",
    });
    const bytes = Buffer.from(text);
    const parts = [...bytes].map((byte) =>
      Buffer.concat([Buffer.from("1\r\n"), Buffer.from([byte]), Buffer.from("\r\n")]),
    );
    const answer = await sendRaw(
      http.port,
      Buffer.concat([
        Buffer.from(`POST /payments HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${chunked}\r\n`),
        ...parts,
        Buffer.from("0\r\n\r\n"),
      ]),
    );
    expect(answer.status).toBe(201);
    expect(Buffer.from(answer.body, "latin1").toString()).toContain('"reference":"caf\u00e9"');
  });

  test.each([
    ["a byte order mark and a charset", 'application/json; charset="UTF-8"', "\ufeff{}", 400],
    ["another charset", "application/json; charset=utf-16", "{}", 415],
    ["bytes that are compressed", "application/json\r\nContent-Encoding: gzip", "{}", 415],
  ])("a body in chunks with %s: %s", async (_what, type, body, status) => {
    const sent = [
      ["Content-Type", type],
      ["Idempotency-Key", "k"],
    ] as const;
    const answer = await sendRaw(http.port, rawRequest("POST", "/payments", sent, body));
    expect(answer.status).toBe(status);
    // The first is JSON; what it lacks are members.
    const code = status === 400 ? "invalid_request" : "unsupported_media_type";
    expect(JSON.parse(answer.body)).toMatchObject({ code });
  });
});
