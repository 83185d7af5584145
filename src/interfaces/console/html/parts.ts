import type { ComponentChildren, VNode } from "preact";
import { h } from "./h";

/** What somebody else wrote: apart from the text around it, whichever way its letters run. */
export function stored(text: string): VNode {
  return h("bdi", null, text);
}

export function storedOr(text: string | null, otherwise = "–"): ComponentChildren {
  return text === null || text === "" ? h("span", { class: "none" }, otherwise) : stored(text);
}

export function code(text: string): VNode {
  return h("code", null, h("bdi", null, text));
}

export type Tone = "good" | "bad" | "wait" | "plain";

export function badge(text: string, tone: Tone): VNode {
  return h("span", { class: `badge ${tone}` }, text);
}

/** A line above everything else: what was done, or what is wrong. */
export function notice(tone: "good" | "bad" | "wait", ...content: ComponentChildren[]): VNode {
  return h("div", { class: `notice ${tone}`, role: tone === "bad" ? "alert" : "status" }, ...content);
}

export function heading(title: ComponentChildren, ...beside: ComponentChildren[]): VNode {
  return h("div", { class: "heading" }, h("h1", null, title), ...beside);
}

export function card(title: string, ...content: ComponentChildren[]): VNode {
  return h("section", { class: "card" }, h("h2", null, title), ...content);
}

/** What there is to know of one thing, name by name. What is null is left out. */
export function factList(facts: readonly (readonly [name: string, value: ComponentChildren])[]): VNode {
  return h(
    "dl",
    { class: "facts" },
    facts
      .filter(([, value]) => value !== null && value !== undefined)
      .map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value))),
  );
}

export interface Column<Row> {
  readonly name: string;
  readonly of: (row: Row) => ComponentChildren;
  readonly isNumber?: true;
}

/** Becomes a list of cards where the screen is narrow; each cell then says what it is. */
export function table<Row>(
  caption: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  empty: ComponentChildren,
): VNode {
  if (rows.length === 0) return h("p", { class: "empty" }, empty);
  return h(
    "div",
    { class: "scroll", role: "region", "aria-label": caption, tabIndex: 0 },
    h(
      "table",
      null,
      h("caption", { class: "unseen" }, caption),
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          columns.map(({ name, isNumber }) =>
            h("th", { scope: "col", class: isNumber === true ? "number" : undefined }, name),
          ),
        ),
      ),
      h(
        "tbody",
        null,
        rows.map((row) =>
          h(
            "tr",
            null,
            columns.map(({ name, of, isNumber }) =>
              h("td", { "data-label": name, class: isNumber === true ? "number" : undefined }, of(row)),
            ),
          ),
        ),
      ),
    ),
  );
}

/** To the page after this one, and back to the first. */
export function pager(
  path: string,
  query: Readonly<Record<string, string>>,
  next: string | null,
): VNode | null {
  const isFirst = query["cursor"] === undefined;
  if (isFirst && next === null) return null;
  const { cursor: _, ...filters } = query;
  return h(
    "nav",
    { class: "pager", "aria-label": "Pages" },
    isFirst ? null : h("a", { class: "button", href: withQuery(path, filters) }, "First page"),
    next === null
      ? null
      : h(
          "a",
          { class: "button", rel: "next", href: withQuery(path, { ...filters, cursor: next }) },
          "Next page",
        ),
  );
}

export function withQuery(path: string, query: Readonly<Record<string, string>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== "");
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given).toString()}`;
}
