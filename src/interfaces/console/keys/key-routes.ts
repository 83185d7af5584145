import { actBehind } from "../../http/requests/audit/act-behind";
import { parseMerchantId } from "../../../domain/identifiers";
import { RequestError } from "../../http/problems/request-error";
import { h } from "../html/h";
import { heading, notice } from "../html/parts";
import type { ConsoleRoute } from "../serving/console-route";
import { showKeys } from "./show-keys";

const MAX_NAME = 100;
const PRINTABLE = /^[^\p{Cc}\p{Cs}]*$/u;

const makeKey: ConsoleRoute = {
  method: "post",
  path: "/keys",
  access: "operator",
  async handle({ form, request, response }, { apiKeys }) {
    const merchant = parseMerchantId((form["merchant"] ?? "").trim());
    const name = (form["name"] ?? "").trim();
    if (name.length > MAX_NAME || !PRINTABLE.test(name)) {
      throw new RequestError(
        "invalid_request",
        `A name has at most ${MAX_NAME} characters that can be printed.`,
      );
    }
    const { key, secret } = await apiKeys.create(
      { merchant, operator: form["operator"] === "on", name: name === "" ? null : name },
      actBehind(request, response),
    );
    const content = h(
      "div",
      null,
      heading("A new key"),
      notice(
        "wait",
        h("p", null, "This is the only time that its secret is shown. Only a hash of it is stored."),
      ),
      h("code", { class: "secret" }, secret),
      h("p", null, `It acts for ${key.merchant}${key.operator ? ", and is an operator's key" : ""}.`),
      h("p", null, h("a", { href: "/console/keys" }, "Back to the keys")),
    );
    return { title: "A new key", section: "keys", content };
  },
};

const revokeKey: ConsoleRoute = {
  method: "post",
  path: "/keys/:keyId/revoke",
  access: "operator",
  async handle({ ids, request, response }, { apiKeys }) {
    const key = await apiKeys.revoke((ids["keyId"] ?? "").toLowerCase(), actBehind(request, response));
    if (key === null) throw new RequestError("route_not_found", "There is no such key.");
    return { to: "/console/keys?done=revoked" };
  },
};

export const keyRoutes: readonly ConsoleRoute[] = [showKeys, makeKey, revokeKey];
