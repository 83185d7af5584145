import { h } from "./html/h";
import { button, field } from "./html/forms";
import { notice } from "./html/parts";
import type { Page } from "./serving/console-route";

interface SignIn {
  readonly token: string;
  /** Where it was wanted to go. */
  readonly next: string;
  readonly isRefused: boolean;
  /** The connection is not one that the cookie would come back over. */
  readonly warns: boolean;
}

export function signInPage({ token, next, isRefused, warns }: SignIn): Page {
  const content = h(
    "div",
    { class: "narrow" },
    isRefused ? notice("bad", h("p", null, "This is not a valid API key. It may have been revoked.")) : null,
    warns
      ? notice(
          "wait",
          h("p", null, "Off this machine, signing in needs HTTPS: open the console through your TLS proxy."),
        )
      : null,
    h(
      "section",
      { class: "card" },
      h("h1", null, "Sign in"),
      h("p", { class: "help" }, "An operator's key sees everything, a merchant's key that merchant alone."),
      h(
        "form",
        { method: "post", action: "/console/sign-in", class: "action" },
        h("input", { type: "hidden", name: "token", value: token }),
        h("input", { type: "hidden", name: "next", value: next }),
        field(
          "API key",
          "key",
          { type: "password", required: true, autocomplete: "current-password", autofocus: true },
          "It is exchanged for a session of eight hours, and not kept by this browser.",
        ),
        button("Sign in"),
      ),
    ),
  );
  return { title: "Sign in", section: "none", status: isRefused ? 401 : 200, content };
}
