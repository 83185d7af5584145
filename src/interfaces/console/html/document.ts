import type { VNode } from "preact";
import { h } from "./h";
import { renderToString } from "preact-render-to-string";
import type { AuthenticatedCaller } from "../../../application/use-cases/authenticate-caller";
import { scriptPath, stylePath } from "../assets/assets";
import type { ConsoleParts } from "../console-parts";
import type { Page, Section } from "../serving/console-route";

interface MenuEntry {
  readonly section: Section;
  readonly path: string;
  readonly name: string;
  readonly forOperators: boolean;
}

const menu: readonly MenuEntry[] = [
  { section: "attention", path: "/console", name: "Attention", forOperators: false },
  { section: "payments", path: "/console/payments", name: "Payments", forOperators: false },
  { section: "reviews", path: "/console/reviews", name: "Reviews", forOperators: true },
  { section: "locks", path: "/console/locks", name: "Locks", forOperators: true },
  { section: "webhooks", path: "/console/webhooks", name: "Webhooks", forOperators: false },
  { section: "sandboxes", path: "/console/sandboxes", name: "Sandboxes", forOperators: false },
  { section: "keys", path: "/console/keys", name: "Keys and settings", forOperators: true },
  { section: "audit", path: "/console/audit", name: "Audit", forOperators: true },
];

/** The whole page, as it is sent. Whatever is text in it is escaped on the way. */
export function rendered(
  page: Page,
  caller: AuthenticatedCaller | null,
  parts: Pick<ConsoleParts, "version" | "webhooks" | "sandboxes">,
  token?: string,
): string {
  const has = (section: Section) =>
    (section !== "webhooks" || parts.webhooks !== undefined) &&
    (section !== "sandboxes" || parts.sandboxes !== undefined);
  const entries = menu.filter(
    ({ section, forOperators }) => has(section) && caller !== null && (caller.operator || !forOperators),
  );
  return `<!doctype html>${renderToString(
    h(
      "html",
      { lang: "en" },
      head(`${page.title} · Holdfast`, page.refresh),
      h(
        "body",
        null,
        h("a", { class: "skip", href: "#content" }, "Skip to content"),
        header(page.section, entries, caller, token),
        h("main", { id: "content", tabIndex: -1 }, page.content),
        h("footer", null, h("p", null, `Holdfast ${parts.version} · All times are UTC`)),
      ),
    ),
  )}`;
}

/** Loads the page anew, from this site: a link from elsewhere comes without the cookies that say who is there. */
export function hopPage(path: string): string {
  return `<!doctype html>${renderToString(
    h(
      "html",
      { lang: "en" },
      h(
        "head",
        null,
        h("meta", { charset: "utf-8" }),
        h("meta", { "http-equiv": "refresh", content: `0; url=${path}` }),
        h("title", null, "Holdfast"),
      ),
      h("body", null, h("main", null, h("p", null, h("a", { href: path }, "Go on to the console")))),
    ),
  )}`;
}

function head(title: string, refresh: number | undefined): VNode {
  return h(
    "head",
    null,
    h("meta", { charset: "utf-8" }),
    h("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
    h("meta", { name: "color-scheme", content: "light dark" }),
    refresh === undefined ? null : h("meta", { name: "refresh-after", content: String(refresh) }),
    h("title", null, title),
    h("link", { rel: "stylesheet", href: stylePath }),
    h("link", { rel: "icon", type: "image/svg+xml", href: "/console/assets/icon.svg" }),
    h("script", { src: scriptPath, defer: true }),
  );
}

function header(
  section: Section,
  entries: readonly MenuEntry[],
  caller: AuthenticatedCaller | null,
  token: string | undefined,
): VNode {
  return h(
    "header",
    { class: "top" },
    h(
      "a",
      { class: "brand", href: "/console" },
      h("span", { class: "mark", "aria-hidden": true }),
      "Holdfast",
    ),
    entries.length === 0
      ? null
      : h(
          "nav",
          { "aria-label": "Console" },
          h(
            "ul",
            null,
            entries.map((entry) =>
              h(
                "li",
                null,
                h(
                  "a",
                  {
                    href: entry.path,
                    ...(entry.section === section ? { "aria-current": "page" as const } : {}),
                  },
                  entry.name,
                ),
              ),
            ),
          ),
        ),
    caller === null ? null : whoIsThere(caller, token),
  );
}

function whoIsThere(caller: AuthenticatedCaller, token: string | undefined): VNode {
  if (caller.keyId === null) {
    return h("p", { class: "who" }, "No keys: open to this machine");
  }
  return h(
    "form",
    { class: "who", method: "post", action: "/console/sign-out" },
    h("input", { type: "hidden", name: "token", value: token ?? "" }),
    h("span", null, caller.operator ? "Operator" : caller.merchant),
    h("button", { class: "quiet" }, "Sign out"),
  );
}
