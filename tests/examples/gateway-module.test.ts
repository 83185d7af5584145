import { spawn, type ChildProcess } from "node:child_process";
import { copyFileSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { join } from "node:path";
import { eventually, HoldfastCli } from "../support/program/holdfast-cli";
import { InstalledPackage } from "../support/program/installed-package";

jest.setTimeout(180_000);
const EXAMPLE = join(__dirname, "../../examples/gateway-module");
const gateway = readFileSync(join(EXAMPLE, "gateway.mjs"), "utf8");

describe("the example of a gateway module, in the project of another author", () => {
  let installed: InstalledPackage;
  beforeAll(async () => {
    installed = await InstalledPackage.install();
    for (const file of ["bank.mjs", "contract.test.mjs"])
      copyFileSync(join(EXAMPLE, file), join(installed.project, file));
  });
  afterAll(() => installed.remove());

  const contractOf = async (text: string): Promise<string> => {
    installed.write("gateway.mjs", text);
    return installed.run("contract.test.mjs").catch(({ stdout }: { stdout: string }) => stdout);
  };

  it("the example of a gateway module has less than 150 lines", () => {
    expect(gateway.split("\n").length).toBeLessThan(150);
  });

  it("the example of a gateway module keeps its contract", async () => {
    const said = await contractOf(gateway);
    expect(said).toMatch(/^(?:# |ℹ )fail 0$/m);
    expect(Number(/^(?:# |ℹ )pass (\d+)$/m.exec(said)?.[1])).toBeGreaterThan(60);
  });

  it.each([
    ["takes an error of the bank for a refusal", "if (status === 402)", "if (status >= 402)"],
    [
      "takes silence for a refusal",
      "return silence(error);",
      'return { outcome: "declined", reason: "no answer" };',
    ],
    ["finds nothing", "return recorded(found.status, found.answer);", 'return { outcome: "absent" };'],
  ])("the example of a gateway module would not keep it if it %s", async (_, right, wrong) => {
    expect(gateway).toContain(right);
    expect(await contractOf(gateway.replace(right, wrong))).toMatch(/^(?:# |ℹ )fail [1-9]\d*$/m);
  });

  it("the example of a gateway module has the types of holdfast/gateway", () => {
    installed.write("gateway.mjs", gateway);
    expect(() => installed.compileSamples(["gateway.mjs"])).not.toThrow();
    installed.write("gateway.mjs", gateway.replace('outcome: "absent"', 'outcome: "missing"'));
    expect(() => installed.compileSamples(["gateway.mjs"])).toThrow();
  });
});

describe("a server with the gateway of the example", () => {
  const holdfast = new HoldfastCli();
  const module = `module:${join(EXAMPLE, "gateway.mjs")}`;
  const authorization = "Bearer the bank's own";
  let bank: ChildProcess;
  let bankUrl: string;

  beforeEach(async () => {
    const env = { ...process.env, BANK_KEY: "the bank's own", PORT: "0" };
    bank = spawn(process.execPath, [join(EXAMPLE, "bank.mjs")], {
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    bankUrl = await new Promise((resolve) => {
      createInterface({ input: bank.stdout! }).once("line", (line) => resolve(line.replace("bank on ", "")));
    });
  });
  afterEach(async () => {
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
    const { status, body } = await post(`${url}/payments`, "order", {
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

  it.each(["silent_after_acting", "silent_before_acting"])(
    "a server with the gateway of the example that is killed during a capture that is %s captures once",
    async (misfortune) => {
      const first = start();
      const payment = await authorized(await first.url(), `card_capture_${misfortune}`);
      const path = `/payments/${payment}/capture`;
      const interrupted = post(`${await first.url()}${path}`, "capture", {}).catch(() => "killed");
      // It is in the middle: what it means to do is stored, and the bank has been asked or is about to be.
      const show = async () => {
        const answer = await fetch(`${await first.url()}/payments/${payment}`);
        return (await answer.json()) as { payment: { captures: readonly unknown[] } };
      };
      await eventually(show, (shown) => shown.payment.captures.length === 1);
      if (misfortune === "silent_after_acting")
        await eventually(
          () => books(payment),
          (moves) => moves.length === 2,
        );
      await first.end("SIGKILL");
      expect(await interrupted).toBe("killed");

      const second = await start().url();
      const again = await eventually(
        () => post(`${second}${path}`, "capture", {}),
        ({ body }) => body.payment?.status === "captured",
      );
      expect(again).toMatchObject({ status: 201, body: { payment: { amountCaptured: 5_000 } } });
      expect(await books(payment)).toEqual(["authorize 5000", "capture 5000"]);
    },
  );
});
