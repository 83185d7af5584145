import type { Page } from "playwright-core";

/** What a person does on a page, whatever they do it with. Names are the beginnings of what is written there. */
export interface Hand {
  readonly name: string;
  /** A button, or a link. */
  press(text: string): Promise<void>;
  open(summary: string): Promise<void>;
  fill(label: string, text: string): Promise<void>;
  choose(option: string): Promise<void>;
}

export class Pointer implements Hand {
  readonly name = "by clicks, with JavaScript switched off";

  constructor(private readonly page: Page) {}

  press(text: string): Promise<void> {
    const named = { name: new RegExp(`^${escaped(text)}`) };
    const main = this.page.getByRole("main");
    return main.getByRole("button", named).or(main.getByRole("link", named)).first().click();
  }

  open(summary: string): Promise<void> {
    return this.page.locator("summary", { hasText: summary }).first().click();
  }

  fill(label: string, text: string): Promise<void> {
    return this.page.getByLabel(label).first().fill(text);
  }

  choose(option: string): Promise<void> {
    return this.page.getByLabel(option).first().check();
  }
}

const MOST_TABS = 150;

/** Tab, Enter, Space, arrows and letters. What cannot be reached or is not told by its name fails here. */
export class Keyboard implements Hand {
  readonly name = "by keyboard alone";

  constructor(private readonly page: Page) {}

  async press(text: string): Promise<void> {
    await this.tabTo(text);
    await this.page.keyboard.press("Enter");
  }

  async open(summary: string): Promise<void> {
    await this.press(summary);
  }

  async fill(label: string, text: string): Promise<void> {
    await this.tabTo(label);
    const { keyboard } = this.page;
    const time = /^(\d{4})-(\d\d)-(\d\d)T00:00:00$/.exec(text);
    if (time === null) {
      await keyboard.press("ControlOrMeta+A");
      await keyboard.type(text);
      return;
    }
    const [, year, month, day] = time;
    await keyboard.type(`${month}${day}${year}`);
    await keyboard.press("ArrowRight");
    await keyboard.type("120000AM");
  }

  async choose(option: string): Promise<void> {
    // Tab leads to a group, arrows to what is in it; to a box that stands alone, Tab alone.
    const kind = await this.tabTo(option, 'input[type="radio"]');
    if (kind !== "radio") return this.page.keyboard.press("Space");
    for (let moves = 0; !(await this.focused()).startsWith(option); moves += 1) {
      if (moves > 10) throw new Error(`no arrow leads to ${option}`);
      await this.page.keyboard.press("ArrowDown");
    }
    // Where it stood already, nothing was chosen yet.
    await this.page.keyboard.press("Space");
  }

  /** Resolves with the type of what it came to: what is named so, or anything that the selector finds. */
  private async tabTo(name: string, orElse = "none"): Promise<string> {
    const passed: string[] = [];
    for (let tabs = 0; tabs < MOST_TABS; tabs += 1) {
      await this.page.keyboard.press("Tab");
      const at = await this.focused();
      if (at.startsWith(name) || (await this.asked(`document.activeElement.matches('${orElse}')`)) === true)
        return String(await this.asked("document.activeElement.type"));
      passed.push(at);
    }
    throw new Error(`Tab does not lead to ${name}, but to ${[...new Set(passed)].join(" | ")}`);
  }

  private async focused(): Promise<string> {
    return String(
      await this.asked(`(() => {
        const at = document.activeElement;
        const label = at.getAttribute("aria-label") ?? at.labels?.[0]?.textContent ?? at.textContent;
        return label.trim();
      })()`),
    );
  }

  /** Of the page that is there; where one is just going, of the next. */
  private async asked(expression: string): Promise<unknown> {
    try {
      return await this.page.evaluate(expression);
    } catch (error) {
      if (!String(error).includes("Execution context was destroyed")) throw error;
      await this.page.waitForLoadState("domcontentloaded");
      return this.page.evaluate(expression);
    }
  }
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
}
