import { spawn, type ChildProcess } from "node:child_process";
import { copyFileSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { eventually, HoldfastCli } from "../support/program/holdfast-cli";
import { InstalledPackage } from "../support/program/installed-package";
import { filesWithErrors, keptWithout } from "./kept-contracts";
import { describeAtFullSize } from "../support/servers/servers";

jest.setTimeout(180_000);
const EXAMPLE = join(__dirname, "../../examples/gateway-module");
const gateway = readFileSync(join(EXAMPLE, "gateway.mjs"), "utf8");
const contract = readFileSync(join(EXAMPLE, "contract.test.mjs"), "utf8");

describeAtFullSize("the example of a gateway module, in the project of another author", () => {
  let installed: InstalledPackage;
  beforeAll(async () => {
    installed = await InstalledPackage.install();
    for (const file of ["bank.mjs", "contract.test.mjs"])
      copyFileSync(join(EXAMPLE, file), join(installed.project, file));
  });
  afterAll(() => installed.remove());

  it("the example of a gateway module has less than 150 lines", () => {
    expect(gateway.split("\n").length).toBeLessThan(150);
  });

  it("the example of a gateway module keeps its contract", async () => {
    installed.write("gateway.mjs", gateway);
    const said = await installed.run("contract.test.mjs").catch(({ stdout }: { stdout: string }) => stdout);
    expect(said).toMatch(/^(?:# |ℹ )fail 0$/m);
    expect(Number(/^(?:# |ℹ )pass (\d+)$/m.exec(said)?.[1])).toBeGreaterThan(60);
  });

  it("the example of a gateway module would not keep it if it took an error of the bank, or silence, for a refusal, or found nothing", async () => {
    const changes: readonly (readonly [right: string, wrong: string])[] = [
      ["return silence(error);", 'return { outcome: "declined", reason: "no answer" };'],
      ["if (status === 402)", "if (status >= 402)"],
      ["return recorded(found.status, found.answer);", 'return { outcome: "absent" };'],
    ];
    const example = { file: "gateway.mjs", source: gateway, contract };
    expect(await keptWithout(installed, example, changes)).toEqual([]);
  });

  it("the example of a gateway module has the types of holdfast/gateway", () => {
    installed.write("gateway.mjs", gateway);
    installed.write("wrong.mjs", gateway.replace('outcome: "absent"', 'outcome: "missing"'));
    const all = ["gateway.mjs", "wrong.mjs"];
    expect(filesWithErrors(() => installed.compileSamples(all))).toEqual(["wrong.mjs"]);
  });
});

describe("a server with the gateway of the example", () => {
  const holdfast = new HoldfastCli();
  const module = `module:${join(EXAMPLE, "gateway.mjs")}`;
  const authorization = "Bearer the bank's own";
  let bank: ChildProcess;
  let bankUrl: string;

  beforeAll(async () => {
    const env = { ...process.env, BANK_KEY: "the bank's own", PORT: "0" };
    bank = spawn(process.execPath, [join(EXAMPLE, "bank.mjs")], {
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    bankUrl = await new Promise((resolve) => {
      createInterface({ input: bank.stdout! }).once("line", (line) => resolve(line.replace("bank on ", "")));
    });
  });
  afterAll(async () => {
    const ended = new Promise((resolve) => bank.once("close", resolve));
    bank.kill();
    await ended;
  });

  const start = () =>
    holdfast.start(["serve", "--port", "0", "--shutdown-delay", "0", "--gateway", module], {
      HOLDFAST_GATEWAY_OPTION_BANK_URL: bankUrl,
      HOLDFAST_GATEWAY_OPTION_BANK_KEY: "the bank's own",
    });

  const post = async (url: string, key: string, body: object) => {
    const answer = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": key },
      body: JSON.stringify(body),
    });
    return {
      status: answer.status,
      body: (await answer.json()) as { payment: { id: string; status: string; amountCaptured: number } },
    };
  };

  const authorized = async (url: string, paymentMethod: string): Promise<string> => {
    const { status, body } = await post(`${url}/payments`, paymentMethod, {
      amount: 5_000,
      currency: "EUR",
      paymentMethod,
    });
    expect({ status, payment: body.payment }).toMatchObject({
      status: 201,
      payment: { status: "authorized" },
    });
    return body.payment.id;
  };

  /** What the bank has in its own books. */
  const books = async (payment: string): Promise<string[]> => {
    const answer = await fetch(`${bankUrl}/books/${payment}`, { headers: { authorization } });
    return ((await answer.json()) as { kind: string; amount: number }[]).map(
      ({ kind, amount }) => `${kind} ${amount}`,
    );
  };

  it("a server with the gateway of the example that is killed during a capture, before or after the bank has acted, captures once", async () => {
    let server = start();
    for (const misfortune of ["silent_after_acting", "silent_before_acting"]) {
      const payment = await authorized(await server.url(), `card_capture_${misfortune}`);
      const path = `/payments/${payment}/capture`;
      const interrupted = post(`${await server.url()}${path}`, "capture", {}).catch(() => "killed");
      // It is in the middle: what it means to do is stored, and the bank has been asked or is about to be.
      const killed = server;
      const show = async () => {
        const answer = await fetch(`${await killed.url()}/payments/${payment}`);
        return (await answer.json()) as { payment: { captures: readonly unknown[] } };
      };
      await eventually(show, (shown) => shown.payment.captures.length === 1);
      if (misfortune === "silent_after_acting")
        await eventually(
          () => books(payment),
          (moves) => moves.length === 2,
        );
      await killed.end("SIGKILL");
      expect(await interrupted).toBe("killed");

      server = start();
      const url = await server.url();
      const again = await eventually(
        () => post(`${url}${path}`, "capture", {}),
        ({ body }) => body.payment?.status === "captured",
      );
      expect(again).toMatchObject({ status: 201, body: { payment: { amountCaptured: 5_000 } } });
      expect(await books(payment)).toEqual(["authorize 5000", "capture 5000"]);
    }
  });

  it("a server with the gateway of the example authorizes, captures, refunds and voids through it", async () => {
    const url = await start().url();
    const payment = await authorized(url, "card_ok");
    const at = `${url}/payments/${payment}`;
    expect((await post(`${at}/capture`, "capture", { amount: 4_000 })).status).toBe(201);
    expect((await post(`${at}/refunds`, "refund", { amount: 1_500 })).status).toBe(201);
    expect(await books(payment)).toEqual(["authorize 5000", "capture 4000", "refund 1500"]);

    const declined = { amount: 100, currency: "EUR", paymentMethod: "card_authorize_refused" };
    expect((await post(`${url}/payments`, "declined", declined)).status).toBe(402);
  });
});
