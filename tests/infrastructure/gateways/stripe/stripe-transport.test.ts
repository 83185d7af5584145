import { createServer, type Server } from "node:http";
import { createServer as createTcpServer, type AddressInfo, type Socket } from "node:net";
import { money, parseCurrency } from "../../../../src/domain/money";
import { StripeGateway } from "../../../../src/infrastructure/gateways/stripe/stripe-gateway";
import { StripeTransport } from "../../../../src/infrastructure/gateways/stripe/stripe-transport";

const capture = {
  gatewayKey: "op.1",
  operationId: "op",
  paymentId: "p",
  amount: money(5_000n, parseCurrency("EUR")),
  authorizationReference: "pi_1",
  timeoutMs: 5_000,
};

async function listening<S extends { listen(port: number, host: string, done: () => void): unknown }>(
  server: S,
): Promise<S> {
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return server;
}

function urlOf(server: { address(): unknown }, protocol = "http"): string {
  return `${protocol}://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function closed(server: { close(done: () => void): unknown }): Promise<void> {
  return new Promise((resolve) => void server.close(resolve));
}

describe("a request that certainly never left is told from one that may have arrived", () => {
  let gateway: StripeGateway | undefined;
  afterEach(() => gateway?.close());
  const open = (url: string, transport?: StripeTransport) =>
    (gateway = StripeGateway.open({
      apiKey: "sk_test_abc",
      url,
      ...(transport === undefined ? {} : { transport }),
    }));

  it("nobody listens: not sent", async () => {
    const server = await listening(createServer());
    const url = urlOf(server);
    await closed(server);
    expect(await open(url).capture(capture)).toEqual({ outcome: "not_sent", reason: "ECONNREFUSED" });
  });

  it("no such host: not sent", async () => {
    expect(await open("http://holdfast.invalid").capture(capture)).toMatchObject({ outcome: "not_sent" });
  });

  it("the other side does not speak TLS: not sent", async () => {
    const server = await listening(
      createTcpServer((socket) => {
        socket.on("error", () => undefined);
        socket.once("data", () => socket.end("no TLS here\r\n", () => socket.destroy()));
      }),
    );
    expect(await open(urlOf(server, "https")).capture(capture)).toMatchObject({ outcome: "not_sent" });
    await closed(server);
  });

  it("given up while there was no connection yet: not sent", async () => {
    const aborted = AbortSignal.abort();
    const server = await listening(createServer());
    const answer = await open(urlOf(server), new StripeTransport(() => aborted)).capture(capture);
    expect(answer).toEqual({ outcome: "not_sent", reason: "timeout" });
    await closed(server);
  });

  it("the connection breaks after the request was sent, and then nobody listens any more: unknown, after one attempt", async () => {
    let attempts = 0;
    const server: Server = createServer((request) => {
      attempts++;
      request.resume();
      request.on("end", () => {
        server.close();
        request.socket.resetAndDestroy();
      });
    });
    await listening(server);
    expect(await open(urlOf(server)).capture(capture)).toMatchObject({ outcome: "unknown" });
    expect(attempts).toBe(1);
  });

  it("an idle connection that broke unnoticed: unknown, because the request may have travelled on it", async () => {
    let serverSide: Socket | undefined;
    const server = createServer((request, response) => {
      serverSide = request.socket;
      request.resume().on("end", () => response.writeHead(429).end('{"error":{"type":"x"}}'));
    });
    await listening(server);
    const stripe = open(urlOf(server));
    expect(await stripe.capture(capture)).toMatchObject({ outcome: "not_sent" });
    const second = stripe.capture(capture);
    serverSide?.resetAndDestroy();
    expect(await second).toMatchObject({ outcome: "unknown" });
    await closed(server);
  });

  it("an answer that drips for longer than the caller's patience: unknown at its end, not one byte later", async () => {
    const controller = new AbortController();
    const server = createServer((request, response) => {
      request.resume().on("end", () => {
        response.writeHead(200, { "content-type": "application/json" });
        let dripped = 0;
        const drip = () =>
          response.write(" ", () => (++dripped === 5 ? controller.abort() : setImmediate(drip)));
        drip();
      });
    });
    await listening(server);
    const stripe = open(urlOf(server), new StripeTransport(() => controller.signal));
    expect(await stripe.capture(capture)).toEqual({ outcome: "unknown", reason: expect.any(String) });
    server.closeAllConnections();
    await closed(server);
  });

  it("an error status around something that looks like success: unknown", async () => {
    const intent = {
      object: "payment_intent",
      id: "pi_1",
      status: "succeeded",
      amount: 5_000,
      amount_capturable: 0,
      amount_received: 5_000,
      currency: "eur",
      metadata: { holdfast_capture: "op" },
    };
    let status = 502;
    const server = createServer((request, response) => {
      request.resume().on("end", () => response.writeHead(status).end(JSON.stringify(intent)));
    });
    await listening(server);
    expect(await open(urlOf(server)).capture(capture)).toMatchObject({ outcome: "unknown" });
    status = 200;
    expect(await gateway?.capture(capture)).toMatchObject({ outcome: "succeeded" });
    server.closeAllConnections();
    await closed(server);
  });

  it("the caller's own patience ends a silence", async () => {
    const server = await listening(createServer((request) => void request.resume()));
    const answer = await open(urlOf(server)).capture({ ...capture, timeoutMs: 50 });
    expect(answer).toMatchObject({ outcome: "unknown" });
    server.closeAllConnections();
    await closed(server);
  });

  it("a request that certainly never left is told from one that may have arrived leaves no connection behind when it is closed", async () => {
    const server = createServer((request, response) => {
      request.resume().on("end", () => response.writeHead(429).end('{"error":{"type":"x"}}'));
    });
    await listening(server);
    const stripe = open(urlOf(server));
    await stripe.capture(capture);
    stripe.close();
    // Resolves only when no connection is left.
    await closed(server);
  });
});
