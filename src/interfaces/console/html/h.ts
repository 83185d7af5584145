import { h as element, type ComponentChildren, type VNode } from "preact";

/** Text alone: neither markup from a string nor a style of its own is one of these. */
type Attributes = Readonly<Record<string, string | number | boolean | undefined>> & {
  readonly style?: never;
};

/** An element. What is text in it, or in an attribute, is escaped when it is rendered. */
export function h(tag: string, attributes: Attributes | null, ...children: ComponentChildren[]): VNode {
  return element(tag, attributes, ...children);
}
