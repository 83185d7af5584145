import type { VNode } from "preact";
import { h } from "./h";
import type { ToldError } from "../../http/problems/problem-details";
import { problemKind } from "../../http/problems/problem-table";
import { code, heading, notice } from "./parts";

/** What is wrong, in the words that the API has for it, and what can be done. */
export function problemContent({ code: problem, detail, facts }: ToldError, requestId: string): VNode {
  const { status, title, retryable } = problemKind(problem);
  const errors = (facts["errors"] ?? []) as readonly {
    readonly detail: string;
    readonly parameter?: string;
  }[];
  return h(
    "div",
    null,
    heading(title),
    notice(
      "bad",
      h("p", null, h("bdi", null, detail)),
      errors.length === 0
        ? null
        : h(
            "ul",
            null,
            errors.map(({ detail: why, parameter }) =>
              h("li", null, h("bdi", null, `${parameter ?? ""} ${why}`)),
            ),
          ),
    ),
    h(
      "p",
      null,
      retryable ? "The same may succeed later: go back and try again." : "Go back to change what was sent.",
    ),
    h("p", { class: "help" }, code(problem), `, status ${status}, request `, code(requestId)),
  );
}
