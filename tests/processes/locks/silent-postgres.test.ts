import { budgets } from "../../../src/application/time-budgets";
import { startedProgram } from "../../support/program/built-program";
import { HoldfastProcess } from "../../support/program/holdfast-process";
import { relayTo, type PostgresRelay } from "../../support/servers/postgres-relay";
import { describeWithPostgres } from "../../support/servers/servers";
import { temporaryDirectory } from "../../support/worlds/temporary-directory";

jest.setTimeout(180_000);

const temporary = temporaryDirectory();
/** Two questions to the store one after the other (who asks, and what about), and a slow machine. */
const SOON_MS = 2 * budgets.listMs + 2_000;
/** Before a lock whose server is silent is given up. */
const LOCK_MS = budgets.lockWaitMs + budgets.readMs + 2_000;
const SHUTDOWN_MS = 30_000;
const nobody = "019aa2b4-7c05-7b1e-8f10-52c0f4d9a702";

interface Timed {
  readonly status: number;
  readonly tookMs: number;
  readonly body: Record<string, unknown>;
}

describeWithPostgres("a server whose PostgreSQL swallows everything", (postgres) => {
  let relay: PostgresRelay;
  let server: HoldfastProcess;
  let url: string;

  beforeEach(async () => {
    relay = await relayTo(postgres.url);
  });
  afterEach(async () => {
    await server.end("SIGKILL");
    await relay.close();
  });

  async function serve(...more: string[]): Promise<void> {
    const program = await startedProgram();
    const args = ["serve", "--port", "0", "--log-level", "fatal", "--store", relay.url, ...more];
    server = new HoldfastProcess([program, ...args], { cwd: temporary.path });
    url = await server.url();
  }

  async function ask(method: string, path: string, body?: object, key = path): Promise<Timed> {
    const begunAt = performance.now();
    const answer = await fetch(url + path, {
      method,
      signal: AbortSignal.timeout(100_000),
      headers: { "content-type": "application/json", "idempotency-key": key.replaceAll("/", "-") },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    const tookMs = Math.round(performance.now() - begunAt);
    return { status: answer.status, tookMs, body: text.startsWith("{") ? JSON.parse(text) : {} };
  }

  async function authorized(paymentMethod = "tok_ok"): Promise<string> {
    const wanted = { amount: 1_000, currency: "EUR", paymentMethod };
    const { body } = await ask("POST", "/payments", wanted, `authorize-${Math.random()}`);
    return (body["payment"] as { id: string }).id;
  }

  it.each(["requests", "answers", "everything"] as const)(
    "answers every route soon, and ends in time, when %s are swallowed",
    async (silence) => {
      // Whoever makes a sandbox waits for its lease, and who closes one gives it back.
      const sandboxes = silence === "everything";
      await serve(...(sandboxes ? [] : ["--sandbox-limit", "0"]));
      const id = await authorized();
      relay.fallSilent(silence);
      const routes: [string, string, object?][] = [
        ["POST", "/payments", { amount: 5, currency: "EUR", paymentMethod: "tok_ok" }],
        ["POST", "/payments", { gatewayReference: "sim_auth_1" }],
        ["POST", `/payments/${id}/capture`, {}],
        ["POST", `/payments/${id}/void`, {}],
        ["POST", `/payments/${id}/refunds`, {}],
        ["GET", `/payments/${id}`],
        ["GET", `/payments/${id}/events`],
        ["GET", "/payments"],
        ["GET", "/reviews"],
        ["POST", `/reviews/${nobody}`, { outcome: "moved", evidence: "seen there" }],
        ["GET", "/locks"],
        ["GET", `/gateway/payments/${id}`],
        ["GET", "/metrics"],
        ["GET", "/readyz"],
        ["GET", "/healthz"],
      ];
      if (sandboxes) routes.push(["POST", "/sandboxes", {}]);
      const answers = await Promise.all(
        routes.map(async ([method, path, body]) => ({ path, ...(await ask(method, path, body)) })),
      );
      const limitOf = (path: string) => (path === "/sandboxes" ? budgets.httpMs : SOON_MS);
      expect(answers.filter(({ path, tookMs }) => tookMs > limitOf(path))).toEqual([]);
      const statusOf = (path: string) => answers.find((answer) => answer.path === path)?.status;
      expect(statusOf("/healthz")).toBe(200);
      expect(statusOf("/readyz")).toBe(503);
      expect(statusOf(`/payments/${id}/capture`)).toBe(503);
      expect(statusOf("/payments")).toBe(503);

      const underWay = ask("POST", `/payments/${id}/capture`, {}, "under-way").catch(() => null);
      const begunAt = performance.now();
      const ended = await server.end("SIGTERM");
      const tookMs = performance.now() - begunAt;
      await underWay;
      expect(ended).toMatchObject({ status: 0 });
      expect(tookMs).toBeLessThan(SHUTDOWN_MS);
    },
  );

  it("answers in time when the silence comes while the gateway is asked", async () => {
    await serve("--sandbox-limit", "0");
    const slow = await authorized("tok_slow_3000");
    const begun = ask("POST", `/payments/${slow}/capture`, {}, "in-the-middle");
    // The intent is stored, and the gateway is being asked.
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    relay.fallSilent("everything");
    const { status, tookMs } = await begun;
    expect(status).toBe(202);
    expect(tookMs).toBeLessThan(budgets.sendMs + budgets.savesMs + 2_000);
  });

  it("ends in time when the silence comes in the middle of captures, and answers them", async () => {
    await serve("--sandbox-limit", "0");
    const ids = await Promise.all(Array.from({ length: 12 }, () => authorized("tok_slow_3000")));
    const captures = ids.map((id, n) => ask("POST", `/payments/${id}/capture`, {}, `middle-${n}`));
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    relay.fallSilent("everything");
    const begunAt = performance.now();
    expect(await server.end("SIGTERM")).toMatchObject({ status: 0 });
    expect(performance.now() - begunAt).toBeLessThan(SHUTDOWN_MS);
    for (const { status } of await Promise.all(captures)) expect(status).toBe(202);
  });

  it("gives up a lock whose server is silent", async () => {
    await serve("--sandbox-limit", "0");
    const id = await authorized();
    const answers = [0, 20, 40, 80].map(async (afterMs, n) => {
      await new Promise((resolve) => setTimeout(resolve, afterMs));
      return ask("POST", `/payments/${id}/capture`, {}, `key-${n}`);
    });
    await new Promise((resolve) => setTimeout(resolve, 10));
    relay.fallSilent("answers");
    for (const { tookMs } of await Promise.all(answers)) expect(tookMs).toBeLessThan(LOCK_MS);
  });

  it("does not start on such a database, and says so soon", async () => {
    await serve("--sandbox-limit", "0");
    relay.fallSilent("everything");
    const begunAt = performance.now();
    const second = new HoldfastProcess(
      [await startedProgram(), "serve", "--port", "0", "--store", relay.url],
      {
        cwd: temporary.path,
      },
    );
    expect((await second.ended).status).toBe(69);
    expect(performance.now() - begunAt).toBeLessThan(SOON_MS);
  });
});
