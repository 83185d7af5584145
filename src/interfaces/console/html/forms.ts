import { randomUUID } from "node:crypto";
import type { ComponentChildren, VNode } from "preact";
import { h } from "./h";
import type { Visit } from "../serving/console-route";

/** A form that changes something: it carries the browser's token, and an id by which a double click is known. */
export function actionForm(
  { token }: Pick<Visit, "token">,
  action: string,
  hidden: Readonly<Record<string, string>>,
  ...content: ComponentChildren[]
): VNode {
  const carried = { token, once: randomUUID(), ...hidden };
  return h(
    "form",
    { method: "post", action, class: "action" },
    Object.entries(carried).map(([name, value]) => h("input", { type: "hidden", name, value })),
    ...content,
  );
}

/** What it will do stands above the button that does it, and takes one click to be seen. */
export function confirmed(summary: string, explanation: ComponentChildren, form: VNode): VNode {
  return h(
    "details",
    { class: "confirm" },
    h("summary", null, summary),
    h("div", null, h("p", null, explanation), form),
  );
}

export function button(text: string, tone: "main" | "danger" | "quiet" = "main"): VNode {
  return h("button", { class: tone }, text);
}

/** A field with its label, and a line of help that belongs to it. */
export function field(
  label: string,
  name: string,
  attributes: Readonly<Record<string, string | number | boolean | undefined>> = {},
  help?: string,
): VNode {
  const id = `field-${name}`;
  const described = help === undefined ? {} : { "aria-describedby": `${id}-help` };
  return h(
    "div",
    { class: "field" },
    h("label", { for: id }, label),
    h("input", { id, name, type: "text", autocomplete: "off", ...described, ...attributes }),
    help === undefined ? null : h("p", { class: "help", id: `${id}-help` }, help),
  );
}

export function choice(
  label: string,
  name: string,
  options: readonly (readonly [value: string, text: string])[],
  chosen = "",
): VNode {
  const id = `field-${name}`;
  return h(
    "div",
    { class: "field" },
    h("label", { for: id }, label),
    h(
      "select",
      { id, name },
      options.map(([value, text]) => h("option", { value, selected: value === chosen }, text)),
    ),
  );
}
