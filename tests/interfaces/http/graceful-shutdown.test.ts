import { connect } from "node:net";
import { once } from "node:events";
import pino from "pino";
import { GracefulShutdown } from "../../../src/interfaces/http/server/graceful-shutdown";
import { expectProblem } from "../../support/http-expectations";
import { HttpWorld } from "../../support/worlds/http-world";
import { Gate, until } from "../../support/fakes/gate";
import { VirtualLockClock } from "../../support/fakes/virtual-lock-clock";

let http: HttpWorld;
let time: VirtualLockClock;
let steps: string[];
let shutdown: GracefulShutdown;

beforeEach(async () => {
  http = new HttpWorld();
  time = new VirtualLockClock();
  steps = [];
  shutdown = new GracefulShutdown({
    server: http.server,
    lifecycle: http.lifecycle,
    closers: [
      { name: "locks", close: () => void steps.push("locks released") },
      { name: "broken", close: () => Promise.reject(new Error("does not let go")) },
      {
        name: "store",
        close: async () => {
          steps.push("store closed");
        },
      },
    ],
    logger: pino({ level: "silent" }),
    exit: (status) => steps.push(`exit ${status}`),
    timers: time,
  });
  await http.open();
});
afterEach(async () => {
  if (http.server.listening) await http.close();
});

/** A capture that stays at the gateway until the gate opens. */
async function captureUnderWay(gate: Gate) {
  const id = await http.authorize();
  http.world.gateway.next("capture", async (real) => {
    await gate.passed;
    return real();
  });
  const answer = http.capture(id, "k");
  await until(() => http.world.gateway.calls.includes("capture"));
  return { id, answer };
}

test("first it only says so: requests are still served, over old and new connections", async () => {
  const done = shutdown.onSignal("SIGTERM");
  expectProblem(await http.get("/readyz"), 503, "service_unavailable");
  expect((await http.get("/healthz")).status).toBe(200);
  const id = await http.authorize();
  expect((await http.capture(id, "k")).status).toBe(201);
  expect(steps).toEqual([]);
  await time.advance(2_000);
  await done;
  expect(steps).toEqual(["locks released", "store closed", "exit 0"]);
  expect(time.pendingTimers).toBe(0);
});

test("then nobody new comes in, those inside finish, and only after that all is let go", async () => {
  const gate = new Gate();
  const { id, answer } = await captureUnderWay(gate);
  const done = shutdown.onSignal("SIGTERM");
  await time.advance(2_000);
  await expect(http.get("/healthz")).rejects.toThrow();
  expect(steps).toEqual([]);
  gate.open();
  expect((await answer).status).toBe(201);
  await done;
  expect(steps).toEqual(["locks released", "store closed", "exit 0"]);
  expect(await http.timesCaptured(id)).toBe(1);
});

test("a connection that was there before gets one last answer: nothing new begins", async () => {
  const gate = new Gate();
  const { answer } = await captureUnderWay(gate);
  const body = JSON.stringify({ amount: 5, currency: "EUR", paymentMethod: "tok_ok" });
  const socket = connect(http.port, "127.0.0.1");
  await once(socket, "connect");
  let text = "";
  socket.on("data", (part: Buffer) => (text += part.toString()));
  // Half a request, so that the connection is not idle.
  socket.write(`POST /payments HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n`);
  await http.get("/healthz");
  const done = shutdown.onSignal("SIGTERM");
  await time.advance(2_000);
  socket.write(`Content-Type: application/json\r\nIdempotency-Key: late\r\n\r\n${body}`);
  await once(socket, "close");
  expect(text).toContain("HTTP/1.1 503");
  expect(text).toContain("Connection: close");
  expect(text).toContain('"code":"service_unavailable"');
  gate.open();
  await answer;
  await done;
  expect(
    (await http.world.context.payments.list({ merchant: "default" as never, limit: 9 })).data,
  ).toHaveLength(1);
});

test("whoever waits for a lock is told to come back, instead of beginning in the last second", async () => {
  const gate = new Gate();
  const { id, answer } = await captureUnderWay(gate);
  const waiting = http.capture(id, "another");
  await until(() => http.lockEvents.includes("wait_started"));
  const done = shutdown.onSignal("SIGTERM");
  await time.advance(2_000);
  expectProblem(await waiting, 503, "service_unavailable");
  gate.open();
  expect((await answer).status).toBe(201);
  await done;
});

test("after 25 s it goes without those who are still inside", async () => {
  const gate = new Gate();
  const { answer } = await captureUnderWay(gate);
  const lost = expect(answer).rejects.toThrow();
  const done = shutdown.onSignal("SIGINT");
  await time.advance(2_000);
  await time.advance(24_999);
  expect(steps).toEqual([]);
  await time.advance(1);
  await done;
  expect(steps).toEqual(["locks released", "store closed", "exit 0"]);
  await lost;
  gate.open();
});

test("after 28 s it goes without what does not let go", async () => {
  const stuck = new GracefulShutdown({
    server: http.server,
    lifecycle: http.lifecycle,
    closers: [
      { name: "stuck", close: () => new Promise<void>(() => {}) },
      { name: "store", close: () => void steps.push("store closed") },
    ],
    logger: pino({ level: "silent" }),
    exit: (status) => steps.push(`exit ${status}`),
    timers: time,
  });
  const done = stuck.onSignal("SIGTERM");
  await time.advance(2_000);
  await time.advance(27_999);
  expect(steps).toEqual([]);
  await time.advance(1);
  await done;
  expect(steps).toEqual(["store closed", "exit 0"]);
  expect(time.pendingTimers).toBe(0);
});

test("a second signal ends it at once", async () => {
  const gate = new Gate();
  const { answer } = await captureUnderWay(gate);
  void shutdown.onSignal("SIGTERM");
  await shutdown.onSignal("SIGINT");
  expect(steps).toEqual(["exit 130"]);
  gate.open();
  await answer;
});

test("connections that say nothing do not hold it up", async () => {
  const socket = connect(http.port, "127.0.0.1");
  await once(socket, "connect");
  const closed = once(socket, "close");
  const done = shutdown.onSignal("SIGTERM");
  await time.advance(2_000);
  await done;
  await closed;
  expect(steps.at(-1)).toBe("exit 0");
});

test("a connection that sent hundreds of requests ahead and reads nothing does not hold it up", async () => {
  const socket = connect(http.port, "127.0.0.1");
  socket.on("error", () => {}); // what counts is seen at the server
  await once(socket, "connect");
  socket.pause();
  socket.write("GET /docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: a\r\n\r\n".repeat(700));
  await until(() => http.accessLog.length > 0);
  const done = shutdown.onSignal("SIGTERM");
  await time.advance(2_000);
  await time.advance(10_000);
  await done;
  expect(steps.at(-1)).toBe("exit 0");
  expect(time.pendingTimers).toBe(0);
  socket.destroy();
});

test("who does not send the rest of a request is waited for five seconds, and nothing was begun", async () => {
  const socket = connect(http.port, "127.0.0.1");
  await once(socket, "connect");
  const closed = once(socket, "close");
  const came = once(http.server, "request");
  socket.write(
    "POST /payments HTTP/1.1\r\nHost: a\r\nIdempotency-Key: k\r\nContent-Type: application/json\r\n" +
      'Content-Length: 500\r\n\r\n{"amount":',
  );
  await came;
  const done = shutdown.onSignal("SIGTERM");
  await time.advance(2_000);
  await time.advance(4_999);
  expect(steps).toEqual([]);
  await time.advance(1);
  await closed;
  await done;
  expect(steps.at(-1)).toBe("exit 0");
  expect(http.world.gateway.calls).toEqual([]);
});

test("as soon as it says that it goes, each answer asks its caller to leave the connection", async () => {
  const { headers: before } = await http.get("/healthz");
  expect(before.get("connection")).toBe("keep-alive");
  const done = shutdown.onSignal("SIGTERM");
  for (const path of ["/readyz", "/healthz", "/payments", "/docs/swagger-ui.css"]) {
    const { headers } = await http.get(path);
    expect([path, headers.get("connection")]).toEqual([path, "close"]);
  }
  const id = await http.authorize();
  expect((await http.capture(id, "k")).headers.get("connection")).toBe("close");
  await time.advance(2_000);
  await done;
});
