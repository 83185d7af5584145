import { closeSync, mkdirSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { loadSqlite } from "../../src/infrastructure/persistence/sqlite/sqlite-driver";
import { fillDisk } from "../support/fill-disk";
import { eventually, HoldfastCli } from "../support/program/holdfast-cli";
import { mount, unmount } from "../support/mounts";
import { describeWithMounts, testAtFullSize } from "../support/servers/servers";

const LOAD = { callers: 8, captured: 40, refused: 50, probes: 40 };

jest.setTimeout(120_000);
const holdfast = new HoldfastCli();

interface Answer {
  readonly status: number;
  // What a server sent is not known before it was looked at.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly body: any;
}

async function call(url: string, method: string, path: string, key?: string, body?: object): Promise<Answer> {
  const answer = await fetch(url + path, {
    method,
    headers: {
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...(key === undefined ? {} : { "idempotency-key": key }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: text.startsWith("{") ? JSON.parse(text) : text };
}

const readyz = (url: string) => call(url, "GET", "/readyz");
const order = { amount: 500, currency: "EUR", paymentMethod: "tok_ok", metadata: { note: "x".repeat(400) } };
let keys = 0;
const authorize = (url: string) => call(url, "POST", "/payments", `order-${(keys += 1)}`, order);

describeWithMounts("a server whose disk", () => {
  const disk = () => join(holdfast.folder, "disk");
  const ballast = () => join(disk(), "ballast");
  beforeEach(() => {
    mkdirSync(disk());
    mount("-t", "tmpfs", "-o", "size=24m", "tmpfs", disk());
  });
  afterEach(() => unmount(disk()));

  const store = (name: string) => `sqlite:${join(disk(), name)}`;
  const serve = (...more: string[]) =>
    holdfast.serve("--store", store("holdfast.db"), "--log-level", "fatal", "--sandbox-limit", "0", ...more);

  const fill = (): void => fillDisk(ballast());

  test("is full says so while nobody pays, and is ready again by itself when there is room", async () => {
    const url = await serve().url();
    expect(await readyz(url)).toMatchObject({ status: 200 });
    fill();
    // The log has room of its own until it has to grow.
    const full = await eventually(
      () => readyz(url),
      ({ status }) => status === 503,
    );
    expect(full.body.detail).toMatch(/Not ready: .*has no space left to write/);
    expect(Object.values(full.body.reasons as object)).toContain("full");
    const metrics = await call(url, "GET", "/metrics");
    expect(metrics.body).toMatch(/holdfast_dependency_down\{dependency="(store|gateway)",reason="full"\} 1/);
    rmSync(ballast());
    await eventually(
      () => readyz(url),
      ({ status }) => status === 200,
    );
    expect((await authorize(url)).status).toBe(201);
  });

  test("is full when it starts ends in words, not as a defect, and so does the making of a key", async () => {
    fill();
    for (const command of [["serve"], ["keys", "create", "--merchant", "acme"]]) {
      const ended = await holdfast.run([...command, "--store", store("new.db")]);
      expect(ended).toMatchObject({
        status: 69,
        stderr: expect.stringMatching(/no space left on device|database or disk is full/),
      });
      expect(ended.stderr).not.toContain("    at ");
    }
  });

  testAtFullSize(
    "fills up under load loses nothing that was acknowledged, says so, and goes on when there is room",
    async () => {
      const server = serve();
      const url = await server.url();
      const captured: string[] = [];
      let stopped = false;
      let refused = 0;
      const odd: Answer[] = [];
      const caller = async (): Promise<void> => {
        while (!stopped) {
          const made = await authorize(url);
          if (made.status !== 201) {
            refused += 1;
            if (made.status !== 503 && made.status !== 202) odd.push(made);
            await pause(5);
            continue;
          }
          const id = made.body.payment.id as string;
          const capture = await call(url, "POST", `/payments/${id}/capture`, "capture", {});
          if (capture.status === 201) captured.push(id);
          else if (capture.status !== 503 && capture.status !== 202) odd.push(capture);
        }
      };
      const callers = Array.from({ length: LOAD.callers }, caller);
      await eventually(
        async () => captured.length,
        (count) => count >= LOAD.captured,
      );
      fill();
      await eventually(
        async () => refused,
        (count) => count > LOAD.refused,
      );
      // It is full now, and most requests fail: no probe may say that all is well.
      const probes: number[] = [];
      for (let probe = 0; probe < LOAD.probes; probe += 1) {
        probes.push((await readyz(url)).status);
        await pause(50);
      }
      expect(probes.filter((status) => status === 200)).toEqual([]);
      rmSync(ballast());
      await eventually(
        () => readyz(url),
        ({ status }) => status === 200,
      );
      const before = captured.length;
      await eventually(
        async () => captured.length,
        (count) => count > before + 8,
      );
      stopped = true;
      await Promise.all(callers);
      expect(odd).toEqual([]);
      await server.end("SIGKILL");
      const again = await serve().url();
      for (const id of captured) {
        const { body } = await call(again, "GET", `/payments/${id}`);
        expect(body).toMatchObject({ payment: { status: "captured", amountCaptured: 500 } });
        const { moves } = (await call(again, "GET", `/gateway/payments/${id}`)).body;
        expect((moves as { kind: string }[]).filter(({ kind }) => kind === "capture")).toHaveLength(1);
      }
    },
  );
});

describe("a server whose file is damaged under it", () => {
  test("says so from the first request that meets the damage on, for as long as it runs", async () => {
    const url = await holdfast.serve("--log-level", "fatal", "--pass-interval", "0").url();
    expect((await authorize(url)).status).toBe(201);
    expect((await readyz(url)).status).toBe(200);
    damage(join(holdfast.folder, "data", "holdfast.db"));
    expect((await authorize(url)).status).toBe(503);
    for (let look = 0; look < 5; look += 1) {
      const { status, body } = await readyz(url);
      expect({ status, reasons: body.reasons }).toEqual({ status: 503, reasons: { store: "damaged" } });
      await pause(400);
    }
  });
});

/** Every page but the first, which says that this is a database. */
function damage(path: string): void {
  const connection = new (loadSqlite().DatabaseSync)(path);
  // A write of another process: the server reads its pages anew.
  connection.exec("CREATE TABLE another (n INTEGER)");
  connection.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  connection.close();
  const file = openSync(path, "r+");
  writeSync(file, Buffer.alloc(statSync(path).size - 4_096, 0xab), 0, undefined, 4_096);
  closeSync(file);
}
