import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { startedProgram } from "../../support/program/built-program";
import { openBrowser, WatchedPage } from "../../support/console/watched-page";
import { HoldfastProcess } from "../../support/program/holdfast-process";
import { WebhookReceiver } from "../../support/receivers/webhook-receiver";
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

  /** Everything that can be done on the console, by clicks. */
  async function doEverything(seen: WatchedPage, receiver: WebhookReceiver): Promise<void> {
    const { page } = seen;
    const press = (name: string | RegExp) => page.getByRole("button", { name }).first().click();
    const open = (name: string) => page.locator("summary", { hasText: name }).first().click();
    const says = (text: string | RegExp) => page.getByText(text).first().waitFor();

    const reference = `order-${(sent += 1)}`;
    const id = await authorized({ reference });
    await seen.go("/console/payments");
    await page.getByLabel("Find").fill(reference);
    await press("Find");
    await press("Capture…");
    await says("What this does");
    await press("Capture 25.00 EUR");
    await says("Captured 25.00 EUR.");
    await page.reload();
    await page.getByLabel("Amount to refund").fill("5.00");
    await press("Refund…");
    await press("Refund 5.00 EUR");
    await says("Refunded 5.00 EUR.");
    await press("Ask the gateway…");
    await press("Ask the gateway");
    await says("Nothing contradicts what is recorded");
    const payment = (await call(`/payments/${id}`, {}, "GET")).payment;
    expect([payment.amountCaptured, payment.amountRefunded]).toEqual([2_500, 500]);

    await seen.go(`/console/payments/${await authorized()}`);
    await press("Void…");
    await press("Void 25.00 EUR");
    await says("Voided 25.00 EUR.");

    const operation = await operationInReview();
    await seen.go("/console/reviews");
    await page.locator(`a[href$="${operation}"]`).click();
    await press("Record this verdict");
    // The browser itself asks for a verdict and its evidence.
    expect(seen.path).toBe(`/console/reviews/${operation}`);
    await page.getByLabel("Not decided at the gateway either").check();
    await page.getByLabel("Evidence").fill("The dashboard shows it as open.");
    await press("Record this verdict");
    await page.waitForURL(/\/console\/payments\//);
    await says("Evidence: The dashboard shows it as open.");

    await call("/webhook-endpoints", { url: receiver.url, description: "the shop" });
    await seen.go("/console/webhooks");
    await page.locator("td a").last().click();
    await open("Send a test event");
    await press("Send the test event");
    await says("A test event is on its way");
    const redeliver = page.getByRole("button", { name: /^Redeliver/ }).first();
    for (let tries = 0; tries < 50 && (await redeliver.count()) === 0; tries += 1) {
      await page.waitForTimeout(100);
      await page.reload();
    }
    await redeliver.click();
    await says("made once more");
    await open("Replay");
    await page.getByLabel("From (UTC)").fill("2026-01-01T00:00:00");
    await page.getByLabel("To (UTC)").fill("2026-01-01T00:00:01");
    await press("Replay these events");
    await says("delivered once more");
    const endpoint = seen.path.split("?")[0]!;
    await open("Rotate the secret");
    await press("Rotate the secret");
    await says(/^whsec_/);
    await seen.go(endpoint);
    await open("Disable");
    await press("Disable the endpoint");
    await says("Nothing is sent to this endpoint from now on.");
    await seen.go("/console");
    await says(receiver.url);

    await seen.go("/console/sandboxes");
    await open("Make a sandbox");
    await press("Make a sandbox");
    await says("The sandbox is ready.");
    await open("Move the clock");
    await press("Move the clock forward");
    await says("The clock was moved.");
    await open("Take a snapshot");
    await press("Take a snapshot");
    await says("A snapshot was taken.");
    const before = seen.path.split("?")[0];
    await page
      .getByRole("button", { name: /^Start a sandbox/ })
      .first()
      .click();
    await says("The sandbox is ready.");
    expect(seen.path.split("?")[0]).not.toBe(before);
    await seen.go("/console/locks");
    await says("No request of this instance holds a lock");
    await seen.go("/console/keys");
    await says("There are no keys");
  }

  async function withReceiver(work: (receiver: WebhookReceiver) => Promise<void>): Promise<void> {
    const receiver = await WebhookReceiver.open();
    try {
      await work(receiver);
    } finally {
      await receiver.close();
    }
  }

  test.each([true, false])(
    "everything on the console can be done, with scripts: %s",
    async (javaScriptEnabled) => {
      const seen = await WatchedPage.open(browser, url, { javaScriptEnabled });
      await withReceiver((receiver) => doEverything(seen, receiver));
      expect(seen.complaints).toEqual([]);
      await seen.close();
    },
  );

  test("a payment is captured by keyboard alone", async () => {
    const id = await authorized();
    const seen = await WatchedPage.open(browser, url);
    const { page } = seen;
    const focused = () =>
      page.evaluate("document.activeElement.textContent || document.activeElement.name || ''");
    const tabTo = async (text: string) => {
      for (let tabs = 0; tabs < 60 && (await focused()) !== text; tabs += 1) await page.keyboard.press("Tab");
      expect(await focused()).toBe(text);
    };
    await seen.go(`/console/payments/${id}`);
    await page.keyboard.press("Tab");
    expect(await focused()).toBe("Skip to content");
    await page.keyboard.press("Enter");
    await tabTo("Capture…");
    await page.keyboard.press("Enter");
    await page.getByText("What this does").waitFor();
    await tabTo("Capture 25.00 EUR");
    await page.keyboard.press("Enter");
    await page.getByText("Captured 25.00 EUR.").waitFor();
    expect((await call(`/payments/${id}`, {}, "GET")).payment.amountCaptured).toBe(2_500);
    expect(seen.complaints).toEqual([]);
    await seen.close();
  });

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

  test("whoever clicks at random meets no failure, and moves no money twice", async () => {
    const seen = await WatchedPage.open(browser, url);
    const { page } = seen;
    let seed = 20_261_119;
    const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
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
