import { setTimeout as pause } from "node:timers/promises";
import { HoldfastCli } from "../support/program/holdfast-cli";
import { SteadyClient } from "../support/program/steady-client";
import { freePort } from "../support/servers/own-process";
import { describeAtFullSize, describeWithPostgres } from "../support/servers/servers";

jest.setTimeout(120_000);
const holdfast = new HoldfastCli();
const PAYMENTS = 80;
const KILLS = 2;
/** A third of them is at the gateway at a time, so that some are done, some under way and some not begun. */
const slow = { amount: 500, currency: "EUR", paymentMethod: "tok_slow_300" };

interface Results {
  readonly results: readonly { readonly status: number }[];
}

function describeKilledServer(name: string, storeArgs: () => readonly string[]): void {
  test(`a server on ${name} that is killed in the middle of many captures has made each of them once when the request was repeated`, async () => {
    const port = String(await freePort());
    const url = `http://127.0.0.1:${port}`;
    const start = () =>
      holdfast.start([
        "serve",
        "--port",
        port,
        "--log-level",
        "error",
        "--shutdown-delay",
        "0",
        ...storeArgs(),
      ]);
    const client = new SteadyClient();
    try {
      let server = start();
      await server.url();
      const ids = await Promise.all(
        Array.from({ length: PAYMENTS }, async (_, n) => {
          const answer = await client.post(url, "/payments", `authorize-${n}`, slow);
          return answer!.paymentId;
        }),
      );
      const body = JSON.stringify({
        captures: ids.map((paymentId, n) => ({ paymentId, idempotencyKey: `key-${n}` })),
      });
      const captureAll = async (): Promise<Results | null> => {
        const headers = { "content-type": "application/json" };
        const answer = await fetch(`${url}/captures`, { method: "POST", headers, body }).catch(() => null);
        return answer === null ? null : ((await answer.json()) as Results);
      };
      const capturedSoFar = async () =>
        (await client.get<{ data: object[] }>(url, "/payments?status=captured&limit=100")).data.length;

      for (let kill = 0; kill < KILLS; kill += 1) {
        const before = await capturedSoFar();
        const answer = captureAll();
        while ((await capturedSoFar()) === before) await pause(5);
        await server.end("SIGKILL");
        expect(await answer).toBeNull();
        server = start();
        await server.url();
        expect(await capturedSoFar()).toBeLessThan(PAYMENTS);
      }

      let last = await captureAll();
      // What was under way when it was killed may be asked about every two seconds.
      for (let tries = 0; tries < 10 && last!.results.some(({ status }) => status !== 201); tries += 1) {
        await pause(1_000);
        last = await captureAll();
      }
      expect(last!.results.map(({ status }) => status)).toEqual(ids.map(() => 201));
      for (const id of ids) {
        const { moves } = await client.get<{ moves: { kind: string }[] }>(url, `/gateway/payments/${id}`);
        expect(moves.map(({ kind }) => kind)).toEqual(["authorize", "capture"]);
      }
      expect((await server.end("SIGTERM")).status).toBe(0);
    } finally {
      client.close();
    }
  });
}

describeAtFullSize("captures that are cut off", () => {
  describeKilledServer("SQLite", () => []);

  describeWithPostgres("on PostgreSQL", (server) => {
    describeKilledServer("PostgreSQL", () => ["--store", server.url]);
  });
});
