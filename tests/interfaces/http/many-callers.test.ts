import { mkdtemp, rm } from "node:fs/promises";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SqliteDatabase } from "../../../src/infrastructure/persistence/sqlite/sqlite-database";
import { SqliteMigration } from "../../../src/infrastructure/persistence/sqlite/sqlite-migration";
import { SqlitePaymentRepository } from "../../../src/infrastructure/persistence/sqlite/sqlite-payment-repository";
import { size } from "../../support/test-size";
import { HttpWorld } from "../../support/worlds/http-world";
import { TestClock } from "../../support/worlds/payments-world";

jest.setTimeout(60_000);

const CALLERS = size(1_000, 100);

describe.each(["memory", "sqlite"])("%s: many callers of one payment", (store) => {
  let folder: string;
  let database: SqliteDatabase | undefined;
  let http: HttpWorld;
  const agent = new Agent();

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "holdfast-"));
    if (store === "sqlite") {
      database = await SqliteDatabase.open(join(folder, "payments.db"));
      await new SqliteMigration(database, new TestClock()).migrate();
    }
    http = await new HttpWorld(
      database === undefined ? {} : { payments: new SqlitePaymentRepository(database) },
    ).open();
  });
  afterEach(async () => {
    agent.destroy();
    await http.close();
    database?.close();
    database = undefined;
    await rm(folder, { recursive: true });
  });

  function capture(id: string, key: string): Promise<{ status: number; body: string }> {
    return new Promise((resolve, reject) => {
      const sent = request(
        `${http.url}/payments/${id}/capture`,
        { method: "POST", agent, headers: { "idempotency-key": key } },
        (answer) => {
          let body = "";
          answer.setEncoding("utf8");
          answer.on("data", (part: string) => (body += part));
          answer.on("end", () => resolve({ status: answer.statusCode ?? 0, body }));
        },
      );
      sent.on("error", reject);
      sent.end();
    });
  }

  test(`${CALLERS} callers capture one payment with one key: one capture, and all get the same answer`, async () => {
    const id = await http.authorize();
    const answers = await Promise.all(Array.from({ length: CALLERS }, () => capture(id, "one")));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map(({ body }) => body)).size).toBe(1);
    expect(await http.timesCaptured(id)).toBe(1);
  });

  test(`${CALLERS} callers capture one payment with a key each: one captures, the others are told that it is captured`, async () => {
    const id = await http.authorize();
    const answers = await Promise.all(Array.from({ length: CALLERS }, (_, n) => capture(id, `key-${n}`)));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    const codes = answers
      .filter(({ status }) => status !== 201)
      .map(({ status, body }) => `${status} ${(JSON.parse(body) as { code: string }).code}`);
    expect(new Set(codes)).toEqual(new Set(["409 payment_already_captured"]));
    expect(codes).toHaveLength(CALLERS - 1);
    expect(await http.timesCaptured(id)).toBe(1);
  });
});
