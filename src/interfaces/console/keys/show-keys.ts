import type { ApiKey } from "../../../application/ports/api-key-store";
import type { ShownSetting } from "../console-parts";
import { actionForm, button, confirmed, field } from "../html/forms";
import { h } from "../html/h";
import { shortened } from "../html/lengths";
import { badge, card, code, heading, notice, pager, stored, storedOr, table } from "../html/parts";
import { ago, when } from "../html/times";
import type { ConsoleRoute, Visit } from "../serving/console-route";

const PAGE = 15;

export const showKeys: ConsoleRoute = {
  method: "get",
  path: "/keys",
  access: "operator",
  async handle(visit, { apiKeys, settings }) {
    const { query, caller } = visit;
    const keys = await apiKeys.list();
    // Those that open something come first, the newest of them on top.
    const sorted = [...keys]
      .reverse()
      .sort((a, b) => Number(a.revokedAt !== null) - Number(b.revokedAt !== null));
    const first = Number(/^\d{1,6}$/.exec(query["cursor"] ?? "")?.[0] ?? 0);
    const next = first + PAGE < sorted.length ? String(first + PAGE) : null;
    const content = h(
      "div",
      null,
      heading("Keys and settings"),
      query["done"] === "revoked"
        ? notice(
            "good",
            h(
              "p",
              null,
              "The key is revoked. Every server refuses it within a second, and its sessions have ended.",
            ),
          )
        : null,
      card(
        "API keys",
        table<ApiKey>(
          "API keys",
          [
            { name: "Key", of: ({ prefix, id }) => [code(`${prefix}…`), h("div", { class: "help" }, id)] },
            { name: "Name", of: ({ name }) => storedOr(name) },
            { name: "Merchant", of: ({ merchant }) => stored(merchant) },
            { name: "Rights", of: ({ operator }) => (operator ? badge("operator", "wait") : "merchant") },
            { name: "Made", of: ({ createdAt }) => when(createdAt) },
            {
              name: "Last used",
              of: ({ lastUsedAt }) => (lastUsedAt === null ? "never" : ago(lastUsedAt, visit.now)),
            },
            { name: "State", of: (key) => state(visit, key) },
          ],
          sorted.slice(first, first + PAGE),
          "There are no keys: everyone on this machine may act, and nobody else may.",
        ),
        pager("/console/keys", first === 0 ? {} : { cursor: String(first) }, next),
        makeForm(visit, caller.keyId === null),
      ),
      card(
        "Settings",
        h(
          "p",
          { class: "help" },
          "What this instance runs with, and where each value comes from. Secrets are named, not shown.",
        ),
        table<ShownSetting>(
          "Settings of this instance",
          [
            { name: "Setting", of: ({ name }) => code(name) },
            { name: "Value", of: ({ value }) => storedOr(value === null ? null : shortened(value)) },
            { name: "From", of: ({ source }) => stored(source) },
          ],
          settings,
          "None.",
        ),
      ),
    );
    return { title: "Keys and settings", section: "keys", content };
  },
};

function state(visit: Visit, { id, revokedAt, prefix }: ApiKey) {
  if (revokedAt !== null) return ["revoked ", when(revokedAt)];
  const isOwn = visit.caller.keyId === id;
  return confirmed(
    "Revoke",
    `Requests with this key are refused within a second, and its sessions end. This cannot be undone.${isOwn ? " You are signed in with it." : ""}`,
    actionForm(
      visit,
      `/console/keys/${id}/revoke`,
      {},
      h("button", { class: "danger", "aria-label": `Revoke ${prefix}…` }, "Revoke the key"),
    ),
  );
}

function makeForm(visit: Visit, isFirst: boolean) {
  return confirmed(
    "Make a key",
    isFirst
      ? "As soon as there is a key, every request needs one, and the console asks for it. Make an operator's key first."
      : "Its secret is shown once.",
    actionForm(
      visit,
      "/console/keys",
      {},
      field("Merchant", "merchant", { required: true, maxlength: 63, pattern: "[a-z0-9][a-z0-9_\\-]{0,62}" }),
      field("Name", "name", { maxlength: 100 }, "For people, so that they can tell their keys apart."),
      h(
        "label",
        { class: "option" },
        h("input", { type: "checkbox", name: "operator" }),
        h(
          "span",
          null,
          "Operator",
          h("small", null, "May look across merchants, decide reviews, and make keys."),
        ),
      ),
      button("Make the key"),
    ),
  );
}
