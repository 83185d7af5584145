import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import { Gate, until } from "../../support/fakes/gate";
import { eventually } from "../../support/program/holdfast-cli";
import { HttpWorld, type HttpWorldParts } from "../../support/worlds/http-world";
import { sendRaw } from "../../support/program/raw-http";

let http: HttpWorld;
/** Requests that have come and whose response has not said `close`: what waits for it, waits for these. */
let open: Set<string>;
let sockets: Socket[];

async function serve(parts: HttpWorldParts = {}): Promise<void> {
  http = new HttpWorld(parts);
  open = new Set();
  sockets = [];
  let came = 0;
  http.server.prependListener("request", ({ method, url }: IncomingMessage, response: ServerResponse) => {
    const name = `${(came += 1)} ${method} ${url}`;
    open.add(name);
    response.once("close", () => open.delete(name));
  });
  await http.open();
}

beforeEach(() => serve());
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await http.close();
});

const get = (path: string, more = "") => `GET ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`;
const BUNDLE = "/docs/swagger-ui-bundle.js";

function post(path: string, key: string, body: object = {}): string {
  const text = JSON.stringify(body);
  return (
    `POST ${path} HTTP/1.1\r\nHost: a\r\nIdempotency-Key: ${key}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`
  );
}

/** A connection that reads nothing. */
async function deaf(bytes: string): Promise<Socket> {
  const socket = connect(http.port, "127.0.0.1");
  sockets.push(socket);
  socket.on("error", () => {}); // what the server does to it is seen at the server
  await once(socket, "connect");
  socket.pause();
  socket.write(bytes);
  return socket;
}

/** Nothing waits for a `close` any more. */
async function allOver(): Promise<void> {
  await eventually(
    () => Promise.resolve(open.size),
    (size) => size === 0,
  );
}

/** The statuses of all answers that came over one connection. */
function statuses(text: string): number[] {
  return [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status));
}

/** Captures of this payment stay at the gateway until the gate opens. */
function heldAtTheGateway(): Gate {
  const gate = new Gate();
  http.world.gateway.next("capture", async (real) => {
    await gate.passed;
    return real();
  });
  return gate;
}

const begun = (kind: string) => http.world.gateway.calls.filter((call) => call === kind).length;

describe("requests that are sent ahead on one connection", () => {
  test("end with it, though nothing of what was answered is read", async () => {
    const socket = await deaf(get(BUNDLE).repeat(200));
    await until(() => open.size > 0);
    socket.destroy();
    await allOver();
    expect(http.accessLog.length).toBeLessThan(200);
  });

  test("end with it, though the first of them is still at the gateway", async () => {
    const id = await http.authorize();
    const gate = heldAtTheGateway();
    const socket = await deaf(post(`/payments/${id}/capture`, "k") + get("/payments").repeat(20));
    await until(() => begun("capture") === 1);
    socket.destroy();
    await allOver();
    gate.open();
    await eventually(
      () => http.timesCaptured(id),
      (times) => times === 1,
    );
  });

  test("requests that are sent ahead on one connection are begun one after the other, and answered in their order", async () => {
    const [first, second] = [await http.authorize(), await http.authorize()];
    const gate = heldAtTheGateway();
    const answers = sendRaw(
      http.port,
      post(`/payments/${first}/capture`, "k") +
        post(`/payments/${second}/capture`, "k") +
        get(`/payments/${second}`, "Connection: close\r\n"),
    );
    await until(() => open.size === 3);
    await http.get("/healthz");
    expect(begun("capture")).toBe(1);
    gate.open();
    const { text } = await answers;
    expect(statuses(text)).toEqual([201, 201, 200]);
    expect(text.indexOf(first)).toBeLessThan(text.indexOf(second));
  });

  test("requests that are sent ahead on one connection are answered up to a bound, and the last of those answers says that it is the last", async () => {
    const { text } = await sendRaw(http.port, get("/payments").repeat(200));
    const answered = statuses(text);
    expect(new Set(answered)).toEqual(new Set([200]));
    expect(answered.length).toBe(17);
    expect(text.split("Connection: close")).toHaveLength(2);
    expect(text.lastIndexOf("Connection: close")).toBeGreaterThan(text.lastIndexOf("HTTP/1.1 200"));
    await allOver();
  });

  test("requests that are sent ahead on one connection do not fill the memory with their bodies", async () => {
    const id = await http.authorize();
    const gate = heldAtTheGateway();
    const large = { metadata: Object.fromEntries([["note", "x".repeat(60_000)]]) };
    const connected = once(http.server, "connection") as Promise<[Socket]>;
    await deaf(
      post(`/payments/${id}/capture`, "k") +
        Array.from({ length: 400 }, (_, n) => post("/payments", `${n}`, large)).join(""),
    );
    await until(() => begun("capture") === 1);
    const [connection] = await connected;
    // It stands still where Node waits for a body to be read, or where no more requests are taken: sooner or later, as it happens.
    let before = -1;
    await eventually(
      async () => {
        [before] = [connection.bytesRead, await http.get("/healthz")];
        return connection.bytesRead;
      },
      (bytes) => bytes > 300_000 && bytes === before,
    );
    expect(begun("capture")).toBe(1);
    // Of 24 MB: those that may wait (1 MB), and one round of the event loop, which reads up to 32 times 64 KiB.
    expect(connection.bytesRead).toBeLessThan(4_000_000);
    gate.open();
  });
});

describe("what is not HTTP behind a request", () => {
  test.each([
    ["noise", "\u0001\u0002\u0003\r\n\r\n"],
    ["a proxy's request", "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n"],
    [
      "a request whose body is none",
      "POST /payments HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ],
  ])("is told behind its answer, and not as its answer: %s", async (_what, noise) => {
    const id = await http.authorize();
    const gate = heldAtTheGateway();
    const answers = sendRaw(http.port, post(`/payments/${id}/capture`, "k") + noise);
    await until(() => begun("capture") === 1);
    await http.get("/healthz");
    gate.open();
    const { text } = await answers;
    expect(statuses(text)).toEqual([201, 400]);
    expect(text).toContain('"code":"malformed_request"');
    await allOver();
  });

  test("what is not HTTP behind a request is told at once where the request itself is broken", async () => {
    const { text } = await sendRaw(
      http.port,
      "POST /payments HTTP/1.1\r\nHost: a\r\nIdempotency-Key: k\r\nContent-Type: application/json\r\n" +
        'Transfer-Encoding: chunked\r\n\r\n3\r\n{"a\r\nzz\r\n',
    );
    expect(statuses(text)).toEqual([400]);
    await allOver();
  });
});

test("a request for another protocol is an ordinary one", async () => {
  const { text } = await sendRaw(
    http.port,
    get("/healthz", "Upgrade: websocket\r\nConnection: Upgrade, close\r\n"),
  );
  expect(statuses(text)).toEqual([200]);
  await allOver();
});

describe("an answer that nobody reads", () => {
  test("an answer that nobody reads is given up with its connection", async () => {
    await http.close();
    await serve({ unreadMs: 50 });
    await deaf(get(BUNDLE).repeat(30));
    await until(() => open.size > 0);
    await allOver();
  });

  test("an answer that nobody reads is not one that is still being made", async () => {
    await http.close();
    await serve({ unreadMs: 400 });
    const id = await http.authorize();
    const gate = heldAtTheGateway();
    const capture = http.capture(id, "k");
    await until(() => begun("capture") === 1);
    await new Promise((resolve) => setTimeout(resolve, 1_300));
    gate.open();
    expect((await capture).status).toBe(201);
  });
});

describe("the files of the documentation", () => {
  test("the files of the documentation have an entity tag, and are not sent again to those who have them", async () => {
    const first = await http.get(BUNDLE);
    expect(first.status).toBe(200);
    expect(first.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect(Number(first.headers.get("content-length"))).toBe(Buffer.byteLength(first.body as string));
    expect(first.headers.get("cache-control")).toBe("public, max-age=3600");
    const etag = first.headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[\w-]{43}"$/);
    for (const tags of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const again = await http.get(BUNDLE, { "if-none-match": tags });
      expect({ status: again.status, body: again.body as string }).toEqual({ status: 304, body: "" });
    }
    expect((await http.get(BUNDLE, { "if-none-match": '"other"' })).status).toBe(200);
  });

  test.each([BUNDLE, "/docs/swagger-ui.css", "/docs/favicon-32x32.png"])(
    "answer what is asked of a part or of a version of %s",
    async (path) => {
      const whole = await http.get(path);
      const etag = whole.headers.get("etag") ?? "";
      for (const range of ["bytes=0-9", "bytes=99999999-", "bytes=9-1", "nonsense"]) {
        const answer = await http.get(path, { range });
        expect({ range, status: answer.status }).toEqual({ range, status: 200 });
        expect(answer.headers.get("content-length")).toBe(whole.headers.get("content-length"));
      }
      for (const [ifMatch, status] of [
        [etag, 200],
        ["*", 200],
        ['"other"', 412],
        [`W/${etag}`, 412],
        ["nonsense", 412],
      ] as const) {
        const answer = await http.get(path, { "if-match": ifMatch });
        expect({ ifMatch, status: answer.status }).toEqual({ ifMatch, status });
        if (status === 412) expect(answer.body).toMatchObject({ code: "precondition_failed" });
      }
      const unmodified = { "if-unmodified-since": "Thu, 01 Jan 1970 00:00:00 GMT" };
      expect((await http.get(path, unmodified)).status).toBe(200);
      const head = await http.call("HEAD", path);
      expect([head.status, head.headers.get("etag"), head.body]).toEqual([200, etag, ""]);
    },
  );
});
