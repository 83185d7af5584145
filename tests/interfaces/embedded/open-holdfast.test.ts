import express from "express";
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
      await (await openHoldfast({ ...quiet, store: "memory:" })).close();
    } finally {
      delete process.env["HOLDFAST_STORE"];
    }
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
