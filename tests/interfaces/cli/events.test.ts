import { createHmac } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { eventually, HoldfastCli } from "../../support/program/holdfast-cli";
import type { RunningProgram } from "../../support/program/running-program";
import { freePort } from "../../support/servers/own-process";
import { HttpWorld } from "../../support/worlds/http-world";

jest.setTimeout(60_000);
const holdfast = new HoldfastCli();

let http: HttpWorld;
beforeEach(async () => {
  http = await new HttpWorld().open();
});
afterEach(() => http.close());

function tail(args: readonly string[] = [], url = http.url): RunningProgram {
  return holdfast.start(["events", "tail", "--after", "beginning", ...args], { HOLDFAST_URL: url });
}

const lines = (tailing: RunningProgram) => tailing.printed.split("\n").filter((line) => line !== "");
const printed = (tailing: RunningProgram, count: number) =>
  eventually(
    async () => lines(tailing),
    (all) => all.length >= count,
  );

describe("events tail", () => {
  test("prints one line for each event, as it happens, until a signal ends it as shells expect", async () => {
    const id = await http.authorize();
    const tailing = tail();
    await printed(tailing, 1);
    await http.capture(id, "k", { amount: 400 });
    const [authorized, captured] = await printed(tailing, 2);
    expect(authorized).toBe(
      `2026-03-01T12:00:00.000Z  payment.authorized     payment ${id}: authorized, 10.00 EUR; authorize 10.00 EUR succeeded`,
    );
    expect(captured).toMatch(
      / payment\.captured +payment \S+: captured, 10\.00 EUR; capture 4\.00 EUR succeeded$/,
    );
    const ended = await tailing.end("SIGINT");
    expect(ended).toMatchObject({ status: null, signal: "SIGINT" });
    expect(ended.stderr).toMatch(/^holdfast: go on with --after \S+$/);
  });

  test("with --json prints each as the server tells it; SIGTERM ends it with 143", async () => {
    const id = await http.authorize();
    await http.capture(id, "k");
    const tailing = tail(["--json", "--types", "payment.captured", "--payment", id]);
    const [line = ""] = await printed(tailing, 1);
    expect(JSON.parse(line)).toEqual((await http.get("/events?types=payment.captured")).body.data[0]);
    expect(await tailing.end("SIGTERM")).toMatchObject({ status: 143 });
  });

  test("goes on where another one stopped; by default with what comes", async () => {
    await http.authorize();
    const first = tail(["--json"]);
    await printed(first, 1);
    const { stderr } = await first.end("SIGTERM");
    const [, cursor = ""] = /--after ([\w-]+)/.exec(stderr) ?? [];
    await http.authorize();
    const second = tail(["--json", "--after", cursor]);
    await printed(second, 1);
    const asked = () =>
      http.accessLog.filter(({ path, status }) => path === "/events" && status === 200).length;
    const before = asked();
    const third = holdfast.start(["events", "tail", "--json"], { HOLDFAST_URL: http.url });
    await eventually(
      async () => asked(),
      (count) => count > before,
    );
    const id = await http.authorize();
    await printed(second, 2);
    await printed(third, 1);
    const paymentsOf = (tailing: RunningProgram) =>
      lines(tailing).map((line) => JSON.parse(line).data.payment.id as string);
    expect(paymentsOf(third)).toEqual([id]);
    expect(paymentsOf(second)[1]).toBe(id);
  });

  test("outlives a restart of the server, and tells nothing twice", async () => {
    const port = String(await freePort());
    const serve = () =>
      holdfast.start(["serve", "--port", port, "--shutdown-delay", "0", "--log-level", "silent"]);
    const authorize = async () =>
      fetch(`http://127.0.0.1:${port}/payments`, {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": String(Math.random()) },
        body: JSON.stringify({ amount: 1_000, currency: "EUR", paymentMethod: "tok_ok" }),
      });
    let server = serve();
    const url = await server.url();
    await authorize();
    const tailing = tail(["--json"], url);
    await printed(tailing, 1);
    await server.end("SIGTERM");
    await tailing.said(/no server at .*; trying again each second/);
    server = serve();
    await server.url();
    await authorize();
    await tailing.said(/the server answers again/);
    await printed(tailing, 2);
    const ids = lines(tailing).map((line) => JSON.parse(line).id as string);
    expect(new Set(ids).size).toBe(2);
  });

  test("a server that comes back with another store ends it, with what to do about it", async () => {
    const port = String(await freePort());
    const args = ["--port", port, "--store", "memory:", "--shutdown-delay", "0", "--log-level", "silent"];
    const server = holdfast.start(["serve", ...args]);
    const url = await server.url();
    const tailing = tail([], url);
    await fetch(`${url}/payments`, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": "a" },
      body: JSON.stringify({ amount: 1_000, currency: "EUR", paymentMethod: "tok_ok" }),
    });
    await printed(tailing, 1);
    await server.end("SIGTERM");
    await holdfast.start(["serve", ...args]).url();
    const ended = await tailing.ended;
    expect(ended).toMatchObject({ status: 64 });
    expect(ended.stderr).toMatch(/after is no cursor of this feed/);
  });

  test("a cursor of another store ends it at once, with what to do about it", async () => {
    const another = await new HttpWorld().open();
    for (const world of [http, another]) await world.authorize();
    const { nextCursor } = (await another.get("/events")).body;
    await another.close();
    const ended = await tail(["--after", nextCursor]).ended;
    expect(ended).toMatchObject({ status: 64, stdout: "" });
    expect(ended.stderr).toMatch(/invalid_event_cursor/);
    expect(ended.stderr).toMatch(/after is no cursor of this feed .* begin again without one/);
  });

  test.each([
    ["an unknown type", ["--types", "payment.stolen"], 64, /invalid_event_type/],
    ["a cursor that is none", ["--after", "yesterday"], 64, /invalid_event_cursor/],
    ["an address that is none", ["--forward", "ftp://127.0.0.1"], 64, /--forward takes a URL/],
    [
      "a secret that is none",
      ["--forward", "http://127.0.0.1", "--secret", "me"],
      64,
      /--secret takes whsec_/,
    ],
    ["a secret for nothing", ["--secret", "me"], 64, /--secret is for --forward/],
  ])("%s ends it at once", async (_, args, status, words) => {
    const ended = await tail(args).ended;
    expect(ended).toMatchObject({ status, stdout: "" });
    expect(ended.stderr).toMatch(words);
  });

  test("where nobody answers at first it says so, and ends", async () => {
    const ended = await tail([], `http://127.0.0.1:${await freePort()}`).ended;
    expect(ended).toMatchObject({ status: 69, stdout: "" });
  });
});

describe("events tail --forward", () => {
  let receiver: Server;
  let received: { headers: IncomingHttpHeaders; body: string }[];
  let answers: number[];
  let url: string;
  beforeEach(async () => {
    [received, answers] = [[], []];
    receiver = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        received.push({ headers: request.headers, body });
        response.statusCode = answers.shift() ?? 204;
        response.end();
      });
    });
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/webhooks`;
  });
  afterEach(() => new Promise((resolve) => receiver.close(resolve)));

  /** As Standard Webhooks has it, not by the code under test. */
  function isSigned({ headers, body }: (typeof received)[number], secret: string): boolean {
    const signed = [headers["webhook-id"], headers["webhook-timestamp"], body].join(".");
    const key = Buffer.from(secret.replace("whsec_", ""), "base64");
    return headers["webhook-signature"] === `v1,${createHmac("sha256", key).update(signed).digest("base64")}`;
  }

  test("sends each event, signed, in order, and says what came back", async () => {
    const id = await http.authorize();
    await http.capture(id, "k");
    const tailing = tail(["--forward", url]);
    const [, secret = ""] = await tailing.said(/signed with (whsec_\S+)/);
    const said = await printed(tailing, 2);
    expect(said.every((line) => line.startsWith("204  "))).toBe(true);
    expect(received.map(({ body }) => JSON.parse(body))).toEqual((await http.get("/events")).body.data);
    for (const one of received) {
      expect(one.headers["webhook-id"]).toBe(JSON.parse(one.body).id);
      expect(isSigned(one, secret)).toBe(true);
      expect(isSigned(one, "whsec_AAAA")).toBe(false);
    }
  });

  test("tries three times with the same id and body, then goes on with the next", async () => {
    answers.push(500, 302, 404);
    const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
    const id = await http.authorize();
    await http.capture(id, "k");
    const tailing = tail(["--forward", url, "--secret", secret]);
    await tailing.said(/did not take event \S+ \(404\); going on with the next/);
    await printed(tailing, 2);
    expect(new Set(received.slice(0, 3).map(({ body }) => body)).size).toBe(1);
    expect(received).toHaveLength(4);
    expect(received.every((one) => isSigned(one, secret))).toBe(true);
  });
});
