import { connect } from "node:net";
import { eventually, HoldfastCli } from "../../support/program/holdfast-cli";
import { freePort } from "../../support/servers/own-process";

jest.setTimeout(60_000);
const holdfast = new HoldfastCli({ serversAlone: true });

const post = (url: string, key: string, body: object) =>
  fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", "idempotency-key": key },
    body: JSON.stringify(body),
  });

async function authorized(url: string, paymentMethod: string, key: string): Promise<string> {
  const order = { amount: 500, currency: "EUR", paymentMethod };
  const answer = await post(`${url}/payments`, key, order);
  const { payment } = (await answer.json()) as { payment: { id: string } };
  return payment.id;
}

/** Whether somebody accepts a connection there. */
const accepts = (url: string) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });

test("SIGTERM lets a capture finish, then ends with 0 and nothing on stdout, and so does SIGINT", async () => {
  let serve = holdfast.serve();
  await serve.said(/store sqlite:\.\/data\/holdfast\.db, locks memory/);
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    const url = await serve.url();
    const id = await authorized(url, "tok_slow_1500", `order-${signal}`);
    const capture = post(`${url}/payments/${id}/capture`, "k", {});
    await eventually(
      async () => (await fetch(`${url}/payments/${id}`)).json() as Promise<{ payment: { status: string } }>,
      ({ payment }) => payment.status === "capturing",
    );
    serve.signal(signal);
    const answer = await capture;
    expect(answer.status).toBe(201);
    const { status, stdout, stderr } = await serve.ended;
    expect({ status, stdout }).toEqual({ status: 0, stdout: "" });
    expect(stderr).toContain("shut down");

    serve = holdfast.serve();
    const again = await post(`${await serve.url()}/payments/${id}/capture`, "k", {});
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(await again.json()).toEqual(await answer.json());
  }
});

test("a stopping server first says so at /readyz and serves on, then closes its door", async () => {
  const serve = holdfast.start(["serve", "--port", "0", "--shutdown-delay", "1"]);
  const url = await serve.url();
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  serve.signal("SIGTERM");
  await eventually(
    async () => (await fetch(`${url}/readyz`)).status,
    (status) => status === 503,
  );
  expect((await fetch(`${url}/payments`)).status).toBe(200);
  expect((await serve.ended).status).toBe(0);
  expect(await accepts(url)).toBe(false);
});

test.each([
  ["SIGTERM", 143],
  ["SIGINT", 130],
] as const)("a second signal, %s, ends it at once with %i", async (second, expected) => {
  const serve = holdfast.start(["serve", "--port", "0", "--shutdown-delay", "300"]);
  await serve.url();
  serve.signal("SIGTERM");
  await serve.said(/shutting down/);
  serve.signal(second);
  expect(await serve.ended).toMatchObject({ status: expected, stdout: "" });
});

test("a server that is asked nothing says nothing with --quiet", async () => {
  const port = String(await freePort());
  const quiet = holdfast.serve("--quiet", "--log-level", "silent", "--port", port);
  await eventually(
    () => accepts(`http://127.0.0.1:${port}`),
    (listening) => listening,
  );
  expect(await quiet.end("SIGTERM")).toEqual({ status: 0, signal: null, stdout: "", stderr: "" });
});
