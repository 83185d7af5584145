import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { InstalledPackage } from "../../support/program/installed-package";
import { describeAtFullSize } from "../../support/servers/servers";

jest.setTimeout(180_000);

/** From the command to money that has moved; a person who tries something does not wait longer. */
const FIRST_CAPTURE_WITHIN_MS = 15_000;

describeAtFullSize("the package in an empty project", () => {
  let installed: InstalledPackage;
  beforeAll(async () => (installed = await InstalledPackage.install()));
  afterAll(() => installed.remove());

  test("npx holdfast serve in an empty project with the packed package captures a first payment within 15 s", async () => {
    const inTime = AbortSignal.timeout(FIRST_CAPTURE_WITHIN_MS);
    // A group of its own: npx starts a shell, and that the program.
    const npx = spawn("npx", ["--no", "holdfast", "serve", "--port", "0"], {
      cwd: installed.project,
      env: { ...process.env, npm_config_offline: "true", HOLDFAST_SHUTDOWN_DELAY: "0" },
      stdio: ["ignore", "ignore", "pipe"],
      detached: true,
    });
    const ended = once(npx, "close");
    const log: string[] = [];
    const listening = new Promise<string>((resolve, reject) => {
      createInterface({ input: npx.stderr }).on("line", (line) => {
        log.push(line);
        const url = /listening on (http:\S+)/.exec(line)?.[1];
        if (url !== undefined) resolve(url);
      });
      const failed = (): void => reject(new Error(`it does not listen:\n${log.join("\n")}`));
      npx.once("close", failed);
      inTime.addEventListener("abort", failed, { once: true });
    });
    try {
      const url = await listening;
      const post = async (path: string, key: string, body: object): Promise<Answered> => {
        const answer = await fetch(`${url}${path}`, {
          method: "POST",
          headers: { "Content-Type": "application/json", "Idempotency-Key": key },
          body: JSON.stringify(body),
          signal: inTime,
        });
        return (await answer.json()) as Answered;
      };
      const { payment } = await post("/payments", "order", {
        amount: 1_250,
        currency: "EUR",
        paymentMethod: "tok_ok",
      });
      const captured = await post(`/payments/${payment.id}/capture`, "capture", {});
      expect(captured.payment).toMatchObject({ status: "captured", amountCaptured: 1_250 });
      expect(existsSync(join(installed.project, "data", "holdfast.db"))).toBe(true);
    } finally {
      process.kill(-npx.pid!, "SIGTERM");
      await ended;
    }
  });

  interface Answered {
    readonly payment: { readonly id: string; readonly status: string; readonly amountCaptured: number };
  }
});
