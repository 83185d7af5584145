import { readFileSync } from "node:fs";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";

const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

/** Debian's Chromium. It refuses its sandbox to root, as whom a gate may run. */
export function openBrowser(executablePath: string): Promise<Browser> {
  const args = process.geteuid?.() === 0 ? ["--no-sandbox"] : [];
  return chromium.launch({ executablePath, args });
}

/** A page, and everything that the browser complained about on it. */
export class WatchedPage {
  readonly complaints: string[] = [];

  private constructor(
    readonly page: Page,
    private readonly url: string,
  ) {
    page.on("pageerror", (error) => this.complaints.push(`${page.url()}: ${error.message}`));
    page.on("response", (response) => {
      if (response.status() >= 500) this.complaints.push(`${response.status()} ${response.url()}`);
    });
    page.on("console", (message) => {
      // An answer of 4xx is written there, too, and is what the page is about.
      if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
        this.complaints.push(`${page.url()}: ${message.text()}`);
    });
  }

  static async open(
    browser: Browser,
    url: string,
    options: BrowserContextOptions = {},
  ): Promise<WatchedPage> {
    const context = await browser.newContext({ viewport: { width: 1_280, height: 800 }, ...options });
    return new WatchedPage(await context.newPage(), url);
  }

  async go(path: string): Promise<void> {
    await this.page.goto(`${this.url}${path}`);
  }

  get path(): string {
    return this.page.url().slice(this.url.length);
  }

  /** What axe finds wrong with the page, in short. */
  async accessibilityFaults(): Promise<readonly string[]> {
    await this.page.evaluate(axe);
    return this.page.evaluate(async () => {
      const { axe: loaded } = globalThis as unknown as {
        axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
      };
      const { violations } = await loaded.run();
      return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ""}`);
    });
  }

  /** By how many pixels the page is wider than the screen. */
  overflow(): Promise<number> {
    return this.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
  }

  async close(): Promise<void> {
    await this.page.context().close();
  }
}
