import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { createServer as createTcpServer, type AddressInfo } from "node:net";
import { UndiciWebhookSender } from "../../../src/infrastructure/webhooks/undici-webhook-sender";

const OPEN = { http: true, private: true };
const ATTEMPT_MS = 400;

describe("one attempt to deliver a webhook", () => {
  let server: Server;
  let url: string;
  let answer: RequestListener;
  let sender: UndiciWebhookSender;
  const received: { method: string | undefined; headers: IncomingMessage["headers"]; body: string }[] = [];

  beforeEach(async () => {
    received.length = 0;
    answer = (_request, response) => void response.writeHead(204).end();
    server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const { method, headers } = request;
        received.push({ method, headers, body: Buffer.concat(chunks).toString() });
        answer(request, response);
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks?a=1`;
    sender = new UndiciWebhookSender(OPEN, { attemptMs: ATTEMPT_MS });
  });
  afterEach(async () => {
    await sender.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const send = (to = url) => sender.send({ url: to, headers: { "webhook-id": "e1" }, body: '{"ü":1}' });

  it("posts the very body and headers, as JSON", async () => {
    expect(await send()).toMatchObject({ result: "delivered", status: 204, failure: null });
    expect(received).toMatchObject([
      {
        method: "POST",
        body: '{"ü":1}',
        headers: { "webhook-id": "e1", "content-type": "application/json", "content-length": "8" },
      },
    ]);
  });

  it.each([200, 201, 202, 204, 299])("has succeeded with %d", async (status) => {
    answer = (_request, response) => void response.writeHead(status).end();
    expect(await send()).toMatchObject({ result: "delivered", status });
  });

  it.each([301, 302, 304, 307, 308, 400, 401, 404, 429, 500, 503])("has failed with %d", async (status) => {
    answer = (_request, response) => void response.writeHead(status, { location: url }).end();
    expect(await send()).toMatchObject({ result: "failed", status, failure: "status" });
    expect(received).toHaveLength(1);
  });

  it("is the last one when the receiver says that it is gone", async () => {
    answer = (_request, response) => void response.writeHead(410).end();
    expect(await send()).toMatchObject({ result: "gone", status: 410 });
  });

  it.each([
    ["120", 120_000],
    [new Date(Date.now() + 3_600_000).toUTCString(), expect.closeTo(3_600_000, -4)],
    ["soon", null],
    ["-5", null],
  ])("hears when the receiver wants to be asked again: %s", async (header, expected) => {
    answer = (_request, response) => void response.writeHead(503, { "retry-after": header }).end();
    expect((await send()).retryAfterMs).toEqual(expected);
  });

  it("keeps the first kilobyte of an answer, without what a terminal would obey", async () => {
    answer = (_request, response) => void response.end(`\u001b[2J${"x".repeat(5_000)}`);
    const { answer: kept } = await send();
    expect(kept).toHaveLength(1_024);
    expect(kept.startsWith("\ufffd[2Jxxx")).toBe(true);
  });

  it("stops reading an endless answer, and believes its status", async () => {
    let written = 0;
    answer = (_request, response) => {
      response.writeHead(200);
      const go = () => {
        while (!response.destroyed && response.write(Buffer.alloc(16_384, 97))) written += 16_384;
        if (!response.destroyed) response.once("drain", go);
      };
      go();
    };
    expect(await send()).toMatchObject({ result: "delivered", status: 200, tookMs: expect.any(Number) });
    // What the kernel's buffers took beyond the 64 kB is bounded, too.
    expect(written).toBeLessThan(20_000_000);
  });

  it("ends in its time when the receiver never answers", async () => {
    answer = () => {};
    const outcome = await send();
    expect(outcome).toMatchObject({ result: "failed", status: null, failure: "timeout" });
    expect(outcome.tookMs).toBeGreaterThanOrEqual(ATTEMPT_MS - 5);
  });

  it("ends in its time when the answer comes a byte at a time", async () => {
    answer = (_request, response) => {
      response.writeHead(200);
      const drip = setInterval(() => response.write("."), 50);
      response.on("close", () => clearInterval(drip));
    };
    expect(await send()).toMatchObject({ result: "delivered", status: 200 });
  });

  it("ends in its time when a name server says nothing", async () => {
    await sender.close();
    sender = new UndiciWebhookSender(OPEN, { attemptMs: ATTEMPT_MS, resolve: () => {} });
    expect(await send("http://hooks.example.com/")).toMatchObject({ result: "failed", failure: "timeout" });
  });

  it.each([
    ["nothing but noise", "\0\0\0\0\r\n\r\n"],
    ["half an answer", "HTTP/1.1 200"],
    ["headers without end", `HTTP/1.1 200 OK\r\n${"x: y\r\n".repeat(10_000)}`],
    ["nothing", ""],
  ])("fails when it is answered with %s", async (_what, text) => {
    const liar = createTcpServer((socket) => {
      socket.on("error", () => {});
      socket.once("data", () => socket.end(text));
    });
    await new Promise<void>((resolve) => liar.listen(0, "127.0.0.1", resolve));
    const { port } = liar.address() as AddressInfo;
    expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({
      result: "failed",
      failure: "connection",
    });
    await new Promise((resolve) => liar.close(resolve));
  });

  it("tells what kind of trouble there was", async () => {
    const unknown = new UndiciWebhookSender(OPEN, {
      resolve: (_host, done) => done(Object.assign(new Error("no such name"), { code: "ENOTFOUND" }), []),
    });
    const to = (address: string) => unknown.send({ url: address, headers: {}, body: "" });
    expect(await to("http://hooks.example.com/")).toMatchObject({ failure: "name_unknown" });
    expect(await to(url.replace("http:", "https:"))).toMatchObject({ failure: "tls" });
    expect(await to("http://127.0.0.1:1024/")).toMatchObject({ failure: "connection" });
    await unknown.close();
  });

  it("refuses what has not been allowed since, without a connection", async () => {
    const strict = new UndiciWebhookSender({ http: false, private: true });
    expect(await strict.send({ url, headers: {}, body: "" })).toMatchObject({ failure: "address_forbidden" });
    await strict.close();
    expect(received).toEqual([]);
  });
});
