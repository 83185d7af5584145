import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync, readdirSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { eventually, HoldfastCli } from "../support/program/holdfast-cli";

jest.setTimeout(60_000);
const holdfast = new HoldfastCli();
/** Of the server, beside what it had before: a keep-alive connection or two of the honest client. */
const SPARE_DESCRIPTORS = 8;
const SPARE_BYTES = 400_000_000;

let port = 0;
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** A connection that sends this and reads nothing. */
async function deaf(bytes: Buffer | string): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  sockets.push(socket);
  socket.on("error", () => {}); // what the server makes of it is seen at the server
  await once(socket, "connect");
  socket.pause();
  socket.write(bytes);
  return socket;
}

const head = (line: string, ...headers: string[]) => [line, "Host: a", ...headers, "", ""].join("\r\n");
const bundle = head("GET /docs/swagger-ui-bundle.js HTTP/1.1");
const json = ["Idempotency-Key: k", "Content-Type: application/json"];
const chunked = head("POST /payments HTTP/1.1", ...json, "Transfer-Encoding: chunked");
const large = "x".repeat(60_000);

const attacks: Record<string, { readonly times: number; readonly bytes: () => Buffer | string }> = {
  "requests sent ahead": { times: 10, bytes: () => bundle.repeat(700) },
  "large bodies sent ahead": {
    times: 4,
    bytes: () =>
      `${head("POST /payments HTTP/1.1", ...json, `Content-Length: ${large.length}`)}${large}`.repeat(400),
  },
  "a request that is followed by noise": { times: 20, bytes: () => `${bundle}\u0001\u0002\r\n\r\n` },
  noise: { times: 50, bytes: () => randomBytes(4_000) },
  "headers that do not end": { times: 100, bytes: () => "GET / HTTP/1.1\r\nHost: a\r\nX: " },
  "headers that are too large": {
    times: 20,
    bytes: () => head("GET / HTTP/1.1", `X: ${"x".repeat(100_000)}`),
  },
  "a body that does not come": {
    times: 100,
    bytes: () => head("POST /payments HTTP/1.1", ...json, "Content-Length: 500"),
  },
  "a body that waits to be asked for": {
    times: 20,
    bytes: () => head("POST /payments HTTP/1.1", ...json, "Content-Length: 500", "Expect: 100-continue"),
  },
  "an expectation that nobody has": {
    times: 20,
    bytes: () => head("GET /healthz HTTP/1.1", "Expect: the unexpected"),
  },
  "a chunk of no size": { times: 20, bytes: () => `${chunked}zz\r\n` },
  "a chunk of all sizes": { times: 20, bytes: () => `${chunked}ffffffffffffffffff\r\n` },
  "a chunk with a long extension": { times: 20, bytes: () => `${chunked}1;${"x".repeat(50_000)}` },
  "chunks that do not end": { times: 20, bytes: () => `${chunked}${`ea60\r\n${large}\r\n`.repeat(20)}` },
  "two lengths": {
    times: 20,
    bytes: () => head("POST /payments HTTP/1.1", ...json, "Content-Length: 3", "Transfer-Encoding: chunked"),
  },
  "another protocol": {
    times: 20,
    bytes: () => head("GET /healthz HTTP/1.1", "Connection: Upgrade", "Upgrade: h2c"),
  },
  "an older protocol": { times: 20, bytes: () => "GET /docs/swagger-ui-bundle.js HTTP/1.0\r\n\r\n" },
  nothing: { times: 100, bytes: () => "" },
};

const descriptorsOf = (pid: number) => readdirSync(`/proc/${pid}/fd`).length;
const residentBytesOf = (pid: number) =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1_024;

/** Authorizes and captures. Resolves with the two statuses. */
async function honest(url: string, name: string): Promise<number[]> {
  const send = (path: string, body: object) =>
    fetch(`${url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": name.replaceAll(" ", "-") },
      body: JSON.stringify(body),
    });
  const authorized = await send("/payments", { amount: 500, currency: "EUR", paymentMethod: "tok_ok" });
  const { payment } = (await authorized.json()) as { payment: { id: string } };
  const captured = await send(`/payments/${payment.id}/capture`, {});
  await captured.arrayBuffer();
  return [authorized.status, captured.status];
}

async function start() {
  const server = holdfast.serve("--log-level", "warn");
  const url = await server.url();
  port = Number(new URL(url).port);
  expect(await honest(url, "before")).toEqual([201, 201]);
  // The files that are kept in memory are there before anything is measured.
  await (await fetch(`${url}/docs/swagger-ui-bundle.js`)).arrayBuffer();
  return { server, url };
}

test("attackers who read nothing, end nothing and die cost nothing once they are gone, and others are served meanwhile", async () => {
  const { server, url } = await start();
  const before = { descriptors: descriptorsOf(server.pid), bytes: residentBytesOf(server.pid) };
  for (const [name, { times, bytes }] of Object.entries(attacks)) {
    await Promise.all(Array.from({ length: times }, () => deaf(bytes())));
    expect([name, await honest(url, name)]).toEqual([name, [201, 201]]);
    // No more than one for each connection, whatever was sent over it.
    const spare = descriptorsOf(server.pid) - before.descriptors - sockets.length;
    expect([name, spare > SPARE_DESCRIPTORS ? spare : "few"]).toEqual([name, "few"]);
  }
  expect(residentBytesOf(server.pid) - before.bytes).toBeLessThan(SPARE_BYTES);

  for (const [n, socket] of sockets.splice(0).entries()) {
    if (n % 2 === 0) socket.destroy();
    else socket.resetAndDestroy();
  }
  await eventually(
    () => Promise.resolve(descriptorsOf(server.pid)),
    (descriptors) => descriptors <= before.descriptors + SPARE_DESCRIPTORS,
  );
  const locks = (await (await fetch(`${url}/locks`)).json()) as { data: unknown[] };
  expect(locks.data).toEqual([]);
  expect(await honest(url, "after")).toEqual([201, 201]);
  const { status, stderr } = await server.end("SIGTERM");
  expect(status).toBe(0);
  expect(stderr).not.toContain("unexpected error");
  expect(stderr).not.toContain("requests are still running");
});

test("a shutdown waits neither for answers that nobody reads nor for requests that do not come", async () => {
  const { server } = await start();
  for (const name of ["requests sent ahead", "headers that do not end", "a body that does not come"]) {
    const { times, bytes } = attacks[name]!;
    await Promise.all(Array.from({ length: times }, () => deaf(bytes())));
  }
  const { status, stderr } = await server.end("SIGTERM");
  expect(status).toBe(0);
  // It says so when it gives up waiting, after 25 s.
  expect(stderr).not.toContain("requests are still running");
});
