import express from "express";
import { existsSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { openHoldfast, type Holdfast, type HoldfastOptions } from "../../../src";
import { HoldfastCli } from "../../support/program/holdfast-cli";
import { migratedPostgres } from "../../support/servers/migrated-postgres";
import { describeWithPostgresSchemas } from "../../support/servers/servers";
import { temporaryDirectory } from "../../support/worlds/temporary-directory";

jest.setTimeout(60_000);

const CARD = { amount: 1_250, currency: "EUR", paymentMethod: "tok_ok" } as const;
const quiet = { logLevel: "silent", sandboxLimit: 0, passInterval: 0 } as const;

function behavesAsTheServer(name: string, store: () => Promise<HoldfastOptions>): void {
  describe(`Holdfast in a process of one's own, on ${name}`, () => {
    let options: HoldfastOptions;
    let holdfast: Holdfast;
    beforeEach(async () => {
      options = { ...quiet, ...(await store()) };
      holdfast = await openHoldfast(options);
    });
    afterEach(() => holdfast.close());

    const authorized = async (paymentMethod = "tok_ok", idempotencyKey = "order-17"): Promise<string> => {
      const { answer } = await holdfast.payments.authorize({ ...CARD, paymentMethod, idempotencyKey });
      return answer.payment.id;
    };

    test("captures a payment once, however many ask at once", async () => {
      const paymentId = await authorized();
      const asked = Array.from({ length: 10 }, () =>
        holdfast.payments.capture({ paymentId, idempotencyKey: "capture-17", amount: 1_000 }),
      );
      const moved = await Promise.all(asked);
      expect(new Set(moved.map(({ answer }) => answer.capture.id)).size).toBe(1);
      expect(
        (await holdfast.payments.capture({ paymentId, idempotencyKey: "capture-17", amount: 1_000 }))
          .isReplayed,
      ).toBe(true);
      expect(await holdfast.payments.show(paymentId)).toMatchObject({
        status: "captured",
        amountCaptured: 1_000,
      });
      const types = (await holdfast.payments.history(paymentId)).map(({ type }) => type);
      expect(types.filter((type) => type === "capture.succeeded")).toHaveLength(1);
    });

    test("goes through a payment's life, and rejects with the codes of the API", async () => {
      const paymentId = await authorized();
      await holdfast.payments.capture({ paymentId, idempotencyKey: "c" });
      const { answer } = await holdfast.payments.refund({ paymentId, idempotencyKey: "r", amount: 250 });
      expect(answer).toMatchObject({ refund: { status: "succeeded" }, payment: { amountRefunded: 250 } });
      expect((await holdfast.payments.observe(paymentId)).operations).toHaveLength(3);
      expect((await holdfast.payments.list({ status: "captured" })).data).toHaveLength(1);

      const other = await authorized("tok_capture_decline", "order-18");
      await expect(
        holdfast.payments.capture({ paymentId: other, idempotencyKey: "c" }),
      ).rejects.toMatchObject({
        code: "capture_declined",
      });
      const voided = await holdfast.payments.void({
        paymentId: await authorized("tok_ok", "o-19"),
        idempotencyKey: "v",
      });
      expect(voided.answer.payment.status).toBe("voided");
      await expect(holdfast.payments.show(paymentId, { merchant: "another" })).rejects.toMatchObject({
        code: "payment_not_found",
      });
      for (const wrong of [{ amount: 0 }, { amount: 1.5 }, { amount: "1" as never }, { amont: 1 } as never])
        await expect(
          holdfast.payments.capture({ paymentId, idempotencyKey: "w", ...(wrong as object) }),
        ).rejects.toMatchObject({ code: "invalid_request" });
      await expect(
        holdfast.payments.capture({ paymentId, idempotencyKey: "w", amont: 1, amount: 0 } as never),
      ).rejects.toThrow(/^amount .+; amont is not recognized$/);
    });

    test.each([
      [{ merchnt: "acme" }, "merchnt is not recognized"],
      [{ merchant: 5 }, "merchant must be text"],
      [{ operator: "false" }, "operator must be true or false"],
      [{ actor: { user: 17 } }, "actor/user must be text"],
      [{ actor: "u_17" }, "actor must be an object of texts"],
      [{ lockTimeoutMs: NaN }, "lockTimeoutMs must be a number of milliseconds, 0 or more, or infinite"],
      [{ lockTimeoutMs: -1 }, "lockTimeoutMs must be a number of milliseconds, 0 or more, or infinite"],
      [{ signal: new AbortController() }, "signal must be an AbortSignal"],
    ])("moves nothing on behalf of a caller that is none: %j", async (as, words) => {
      const paymentId = await authorized();
      const odd = as as never;
      await expect(holdfast.payments.capture({ paymentId, idempotencyKey: "c" }, odd)).rejects.toMatchObject({
        code: "invalid_request",
        message: words,
      });
      await expect(holdfast.payments.show(paymentId, odd)).rejects.toThrow(words);
      expect((await holdfast.payments.show(paymentId)).status).toBe("authorized");
    });

    test.each([undefined, null, 7, {}])("moves nothing without a key: %j", async (idempotencyKey) => {
      const wrong = { idempotencyKey: idempotencyKey as never };
      await expect(holdfast.payments.authorize({ ...CARD, ...wrong })).rejects.toMatchObject({
        code: "invalid_idempotency_key",
      });
      const paymentId = await authorized();
      await expect(holdfast.payments.capture({ paymentId, ...wrong })).rejects.toMatchObject({
        code: "invalid_idempotency_key",
      });
      await expect(holdfast.payments.show(idempotencyKey as never)).rejects.toMatchObject({
        code: "invalid_payment_id",
      });
      expect((await holdfast.payments.show(paymentId)).status).toBe("authorized");
    });

    test("lets what is under way finish when it is closed, and begins nothing after", async () => {
      const paymentId = await authorized("tok_slow_200");
      const capture = holdfast.payments.capture({ paymentId, idempotencyKey: "c" });
      await holdfast.close();
      expect((await capture).answer.payment.status).toBe("captured");
      await expect(holdfast.payments.show(paymentId)).rejects.toMatchObject({ code: "service_unavailable" });
      await holdfast.close();
    });
  });
}

const directory = temporaryDirectory();
const cli = new HoldfastCli();
const newFile = () => `sqlite:${join(directory.path, "own.db")}`;

behavesAsTheServer("memory", async () => ({ store: "memory:" }));
behavesAsTheServer("SQLite", async () => ({ store: newFile() }));
describeWithPostgresSchemas("with a database", (server) => {
  behavesAsTheServer("PostgreSQL", async () => {
    const database = await migratedPostgres(server.url);
    await database.close();
    return { store: server.url, storeConnections: 3 };
  });
});

describe("options of Holdfast in a process of one's own", () => {
  test("are checked together, by their own names, and neither environment nor file is read", async () => {
    process.env["HOLDFAST_STORE"] = "nonsense:";
    try {
      const wrong = { store: "nowhere:", passInterval: -1, storage: "x" } as HoldfastOptions;
      await expect(openHoldfast(wrong)).rejects.toMatchObject({ code: "bad_configuration" });
      await expect(openHoldfast(wrong)).rejects.toThrow(/storage is not a known option/);
      const { storage, ...known } = wrong as Record<string, unknown>;
      await expect(openHoldfast(known)).rejects.toThrow(/store .*\npassInterval /);
      expect(storage).toBe("x");
      await expect(openHoldfast({ trustCallers: "yes" as never })).rejects.toThrow(/trustCallers must be/);
      await expect(openHoldfast({ store: null, trustCallers: null } as never)).rejects.toThrow(
        "store is null: leave it out to have its default\ntrustCallers is null: leave it out to have its default",
      );
      for (const none of [null, "memory:", 5, ["memory:"]])
        await expect(openHoldfast(none as never)).rejects.toThrow("options must be an object");
      await (await openHoldfast({ ...quiet, store: "memory:" })).close();
    } finally {
      delete process.env["HOLDFAST_STORE"];
    }
  });

  test("that miss something are told by the names that options have", async () => {
    const memory = { ...quiet, store: "memory:" };
    await expect(openHoldfast({ ...memory, gateway: "stripe:" })).rejects.toThrow("set stripeApiKey");
    await expect(openHoldfast({ ...memory, locks: "none:" })).rejects.toThrow("set allowUnlocked to accept");
  });

  test("make no sandboxes, and nothing on disk, unless told to: several may be in memory at a time", async () => {
    const { sandboxLimit, ...memory } = { ...quiet, store: "memory:" };
    const before = process.cwd();
    process.chdir(directory.path);
    try {
      const opened = [await openHoldfast(memory), await openHoldfast(memory)];
      const made = existsSync("data");
      await Promise.all(opened.map((one) => one.close()));
      expect([made, sandboxLimit]).toEqual([false, 0]);
      const withSandboxes = await openHoldfast({ ...memory, sandboxLimit: 1 });
      await expect(openHoldfast({ ...memory, sandboxLimit: 1 })).rejects.toMatchObject({
        code: "lock_timeout",
      });
      await withSandboxes.close();
    } finally {
      process.chdir(before);
    }
  });

  test("that would share a file of payments in one process are refused, and the first goes on", async () => {
    const store = newFile();
    const first = await openHoldfast({ ...quiet, store });
    try {
      await expect(openHoldfast({ ...quiet, store })).rejects.toMatchObject({
        code: "lock_timeout",
        message: expect.stringMatching(
          /own\.db: this process has it open already: share .* or close\(\) it before$/,
        ),
      });
      const { answer } = await first.payments.authorize({ ...CARD, idempotencyKey: "o" });
      expect(answer.payment.status).toBe("authorized");
    } finally {
      await first.close();
    }
    await (await openHoldfast({ ...quiet, store })).close();
  });

  test("that would share a file with another process are refused, and that process is named", async () => {
    const store = newFile();
    const holdfast = await openHoldfast({ ...quiet, store });
    try {
      const { status, stderr } = await cli.run(["reconcile", "--store", store]);
      expect([status, stderr]).toEqual([75, expect.stringContaining(String(process.pid))]);
    } finally {
      await holdfast.close();
    }
  });
});

/** The status that comes when keys are asked for. */
async function eventually(status: () => Promise<number>): Promise<number> {
  let last = await status();
  for (let attempt = 0; last === 200 && attempt < 100; attempt += 1) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    last = await status();
  }
  return last;
}

describe("the router, mounted in an application of one's own", () => {
  let holdfast: Holdfast;
  let server: Server;
  const listen = async (options: HoldfastOptions, first?: express.RequestHandler): Promise<string> => {
    holdfast = await openHoldfast({ ...quiet, store: "memory:", ...options });
    const app = express();
    if (first !== undefined) app.use(first);
    app.use("/pay", holdfast.router());
    app.get("/own", (_request, response) => void response.send("own"));
    server = createServer(app);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };
  afterEach(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await holdfast.close();
  });
  const authorize = (url: string) =>
    fetch(`${url}/pay/payments`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "Idempotency-Key": "order-17" },
      body: JSON.stringify(CARD),
    });

  test("answers under its path, and tells where things are with it", async () => {
    const url = await listen({ trustCallers: true });
    const answer = await authorize(url);
    const { payment } = (await answer.json()) as { payment: { id: string } };
    expect([answer.status, answer.headers.get("location")]).toEqual([201, `/pay/payments/${payment.id}`]);
    expect((await fetch(`${url}${answer.headers.get("location")}`)).status).toBe(200);
    expect((await holdfast.payments.show(payment.id)).status).toBe("authorized");
    expect(await (await fetch(`${url}/own`)).text()).toBe("own");
    expect((await fetch(`${url}/pay/nothing`)).status).toBe(404);
  });

  test("is closed at once, though somebody left while the application thought about them", async () => {
    const url = await listen({ trustCallers: true }, (_request, response, next) => {
      response.once("close", next);
    });
    await expect(fetch(`${url}/pay/payments`, { signal: AbortSignal.timeout(50) })).rejects.toThrow();
    await new Promise((resolve) => setTimeout(resolve, 50));
    const beganMs = performance.now();
    await holdfast.close();
    expect(performance.now() - beganMs).toBeLessThan(5_000);
  });

  test("answers nobody without a key, unless told to trust them", async () => {
    const answer = await authorize(await listen({}));
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([401, "unauthorized"]);
  });

  test("tells a stranger what the API is and whether it is ready, and nothing of payments", async () => {
    const url = await listen({});
    const statuses: Record<string, number> = {};
    for (const path of ["docs", "docs/", "openapi.json", "healthz", "readyz", "metrics", "locks", "payments"])
      statuses[path] = (await fetch(`${url}/pay/${path}`)).status;
    expect(statuses).toEqual({
      docs: 200,
      "docs/": 200,
      "openapi.json": 200,
      healthz: 200,
      readyz: 200,
      metrics: 401,
      locks: 401,
      payments: 401,
    });
  });

  test("shows its metrics to operators, with or without a key, and to nobody else", async () => {
    const store = newFile();
    const url = await listen({ trustCallers: true, store });
    const metrics = async (secret?: string): Promise<[number, boolean]> => {
      const answer = await fetch(`${url}/pay/metrics`, {
        headers: secret === undefined ? {} : { Authorization: `Bearer ${secret}` },
      });
      return [answer.status, (await answer.text()).includes("holdfast_http_request_duration_seconds")];
    };
    expect(await metrics()).toEqual([200, true]);
    const created = async (...flags: string[]): Promise<string> => {
      const { stdout, stderr } = await cli.run([
        "keys",
        "create",
        "--store",
        store,
        "--merchant",
        "acme",
        ...flags,
      ]);
      return /hf_\S+/.exec(stdout)?.[0] ?? `${stdout}${stderr}`;
    };
    const [ofMerchant, ofOperator] = [await created(), await created("--operator")];
    // That there were none is remembered for half a second.
    await expect(eventually(async () => (await metrics())[0])).resolves.toBe(401);
    expect(await metrics(ofOperator)).toEqual([200, true]);
    expect(await metrics(ofMerchant)).toEqual([403, false]);
  });

  test("has a page of its API whose links and addresses have its path", async () => {
    const url = await listen({});
    for (const [at, folder] of [
      ["docs", "docs/"],
      ["docs/", ""],
    ] as const) {
      const page = await (await fetch(`${url}/pay/${at}`)).text();
      const files = [...page.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, file]) => file ?? "");
      expect(files).toHaveLength(4);
      for (const file of files) {
        expect(file.startsWith(folder)).toBe(true);
        expect((await fetch(new URL(file, `${url}/pay/${at}`))).status).toBe(200);
      }
    }
    const { servers } = (await (await fetch(`${url}/pay/openapi.json`)).json()) as { servers: unknown };
    expect(servers).toEqual([{ url: "/pay" }]);
  });

  test("takes a body that the application has read before it", async () => {
    const answer = await authorize(await listen({ trustCallers: true }, express.json()));
    expect(answer.status).toBe(201);
  });

  test("says so when a body that it needs was read and thrown away", async () => {
    const eater: express.RequestHandler = (request, _response, next) => {
      request.on("end", next).resume();
    };
    const answer = await authorize(await listen({ trustCallers: true }, eater));
    expect(answer.status).toBe(500);
  });
});
