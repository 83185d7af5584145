import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { startedProgram } from "../../support/program/built-program";
import { openBrowser, WatchedPage } from "../../support/console/watched-page";
import { HoldfastProcess } from "../../support/program/holdfast-process";
import { describeWithBrowser } from "../../support/servers/servers";
import { isFullStorm } from "../../support/storms";
import { size } from "../../support/test-size";

jest.setTimeout(900_000);

/** `HOLDFAST_TEST_PICTURES=1` draws the pictures of the documentation anew. */
const pictures =
  process.env["HOLDFAST_TEST_PICTURES"] === "1" ? join(__dirname, "../../../docs/pictures/console") : null;

describeWithBrowser("the console in a browser", (executablePath) => {
  let folder: string;
  let program: HoldfastProcess;
  let browser: Browser;
  let url: string;
  let sent = 0;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "holdfast-console-"));
    const settings = ["--store", "memory:", "--port", "0", "--shutdown-delay", "0"];
    const allowed = ["--webhooks-allow", "http,private", "--log-level", "error"];
    program = new HoldfastProcess([await startedProgram(), "serve", ...settings, ...allowed], {
      cwd: folder,
    });
    url = await program.url();
    browser = await openBrowser(executablePath);
  });
  afterAll(async () => {
    await browser.close();
    await program.end("SIGTERM");
    rmSync(folder, { recursive: true });
  });

  // What a server sent is not known before it was looked at.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  async function call(path: string, body: object = {}, method = "POST"): Promise<any> {
    const headers = { "content-type": "application/json", "idempotency-key": `test-${(sent += 1)}` };
    const init = method === "GET" ? {} : { body: JSON.stringify(body) };
    return (await fetch(`${url}${path}`, { method, headers, ...init })).json();
  }

  async function authorized(wanted: object = {}): Promise<string> {
    const body = { amount: 2_500, currency: "EUR", paymentMethod: "tok_ok", reference: "order-1042" };
    return (await call("/payments", { ...body, ...wanted })).payment.id as string;
  }

  async function operationInReview(): Promise<string> {
    const id = await authorized({ paymentMethod: "tok_void_captured_elsewhere", reference: "order-1043" });
    return (await call(`/payments/${id}/void`)).void.id as string;
  }

  async function everyPage(): Promise<readonly (readonly [name: string, path: string])[]> {
    const captured = await authorized({ reference: "order-2001", metadata: { basket: "b-17" } });
    await call(`/payments/${captured}/capture`);
    await call(`/payments/${captured}/refunds`, { amount: 500 });
    const operation = await operationInReview();
    const { endpoint } = await call("/webhook-endpoints", {
      url: "http://127.0.0.1:65001/hook",
      description: "Shop",
    });
    await call(`/webhook-endpoints/${endpoint.id as string}/test`);
    const { sandbox } = await call("/sandboxes");
    return [
      ["attention", "/console"],
      ["payments", "/console/payments"],
      ["payment", `/console/payments/${captured}`],
      ["confirm", `/console/payments/${captured}/refund?amount=5.00`],
      ["reviews", "/console/reviews"],
      ["review", `/console/reviews/${operation}`],
      ["locks", "/console/locks"],
      ["webhooks", "/console/webhooks"],
      ["webhook", `/console/webhooks/${endpoint.id as string}`],
      ["sandboxes", "/console/sandboxes"],
      ["sandbox", `/console/sandboxes/${sandbox.id as string}`],
      ["keys", "/console/keys"],
      ["audit", "/console/audit"],
      ["problem", "/console/nowhere"],
    ];
  }

  test("axe finds nothing on any page, light and dark, and each fits on 360 pixels", async () => {
    const pages = await everyPage();
    if (pictures !== null) mkdirSync(pictures, { recursive: true });
    for (const colorScheme of ["light", "dark"] as const) {
      for (const width of size([1_280, 360], colorScheme === "light" ? [1_280] : [360])) {
        const seen = await WatchedPage.open(browser, url, { colorScheme, viewport: { width, height: 800 } });
        for (const [name, path] of pages) {
          await seen.go(path);
          const where = `${name}, ${colorScheme}, ${width}`;
          expect([where, await seen.overflow()]).toEqual([where, 0]);
          expect([where, await seen.accessibilityFaults()]).toEqual([where, []]);
          if (pictures !== null && width === 1_280 && colorScheme === "light")
            await seen.page.screenshot({ path: join(pictures, `${name}.png`) });
        }
        expect(seen.complaints.filter((one) => !one.includes("nowhere"))).toEqual([]);
        await seen.close();
      }
    }
  });

  // Ten minutes of it: `HOLDFAST_STORM=full npx jest tests/interfaces/console/browser.test.ts -t random`.
  test("whoever clicks at random meets no failure, and moves no money twice", async () => {
    const seen = await WatchedPage.open(browser, url);
    const { page } = seen;
    let seed = 20_261_119;
    const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
    await everyPage();
    const payments = await Promise.all(Array.from({ length: 6 }, () => authorized()));
    const endMs = performance.now() + (isFullStorm ? 600_000 : size(60_000, 4_000));
    let clicks = 0;
    await seen.go("/console/payments");
    while (performance.now() < endMs) {
      const places = page.locator("main a, main button, main summary, nav a");
      const count = await places.count();
      // Not the keys: with the first one, everyone would have to sign in.
      const place = places.nth(random(Math.max(count, 1)));
      const text = (await place.textContent({ timeout: 1_000 }).catch(() => null)) ?? "";
      if (count === 0 || /key/i.test(text) || clicks % 40 === 39) {
        // A click before may have begun to go elsewhere: then the page is where that led to.
        await seen.go("/console/payments").catch(interrupted);
      } else await place.click({ timeout: 500, noWaitAfter: true }).catch(() => undefined);
      await page.waitForLoadState("domcontentloaded").catch(() => undefined);
      clicks += 1;
    }
    expect(clicks).toBeGreaterThan(3);
    expect(seen.complaints).toEqual([]);
    for (const id of payments) {
      const { payment } = await call(`/payments/${id}`, {}, "GET");
      const { moves } = await call(`/gateway/payments/${id}`, {}, "GET");
      const captures = (moves as { kind: string }[]).filter(({ kind }) => kind === "capture");
      expect(captures.length).toBeLessThanOrEqual(1);
      expect(captures.length === 1).toBe(payment.amountCaptured > 0);
      expect(payment.amountRefunded).toBeLessThanOrEqual(payment.amountCaptured);
    }
    await seen.close();
  });
});

function interrupted(error: unknown): void {
  if (!/interrupted by another navigation|net::ERR_ABORTED/.test(String(error))) throw error;
}
