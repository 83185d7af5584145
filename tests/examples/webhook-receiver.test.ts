import { spawn, type ChildProcess } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { SECRET_BYTES, signedHeaders, webhookSecret } from "../../src/application/webhooks/sign-webhook";
import { UndiciWebhookSender } from "../../src/infrastructure/webhooks/undici-webhook-sender";
import { tsChild } from "../support/children/child-command";

jest.setTimeout(60_000);

describe("the example of a receiver", () => {
  const secret = webhookSecret(randomBytes(SECRET_BYTES));
  const sender = new UndiciWebhookSender({ http: true, private: true });
  const lines: string[] = [];
  let child: ChildProcess;
  let url: string;

  beforeAll(async () => {
    const { file, args } = tsChild(join(__dirname, "../../examples/webhook-receiver.ts"));
    child = spawn(file, [...args], { env: { ...process.env, WEBHOOK_SECRET: secret, PORT: "0" } });
    url = await new Promise((resolve) => {
      createInterface({ input: child.stdout! }).on("line", (line) => {
        const [, at] = /^listening on (\S+)/.exec(line) ?? [];
        if (at === undefined) lines.push(line);
        else resolve(at);
      });
    });
  });
  afterAll(async () => {
    await sender.close();
    const ended = new Promise((resolve) => child.once("close", resolve));
    child.kill();
    await ended;
  });
  beforeEach(() => {
    lines.length = 0;
  });

  const message = (at = new Date()) => {
    const id = randomUUID();
    return { id, at, body: JSON.stringify({ id, type: "payment.captured", data: {} }) };
  };
  const send = (one: ReturnType<typeof message>, headers = signedHeaders(one, [secret]), body = one.body) =>
    sender.send({ url, headers, body });

  it("takes a delivery, and knows a duplicate", async () => {
    const one = message();
    expect(await send(one)).toMatchObject({ status: 204 });
    expect(await send(one)).toMatchObject({ status: 204 });
    await until(() => lines.length === 2);
    expect(lines).toEqual(["payment.captured: new", "payment.captured: had it already"]);
  });

  it("takes a delivery that is signed by the secret before, too", async () => {
    const one = message();
    const other = webhookSecret(randomBytes(SECRET_BYTES));
    expect(await send(one, signedHeaders(one, [other, secret]))).toMatchObject({ status: 204 });
  });

  it("refuses what is forged, changed, old or not signed", async () => {
    const one = message();
    const other = webhookSecret(randomBytes(SECRET_BYTES));
    const old = message(new Date(Date.now() - 600_000));
    const refused = [
      await send(one, signedHeaders(one, [other])),
      await send(one, undefined, `${one.body} `),
      await send(old),
      await sender.send({ url, headers: {}, body: one.body }),
      await send(one, { ...signedHeaders(one, [secret]), "webhook-timestamp": "soon" }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400]);
    expect(lines).toEqual([]);
  });
});

/** What it prints comes another way than what it answers. */
async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!condition() && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 10));
}
