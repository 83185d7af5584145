import type { Actor, Origin } from "../../../application/audit/act";
import { actKinds, type ActKind, type AuditEntry } from "../../../application/ports/audit/audit-trail";
import { button, choice, field } from "../html/forms";
import { h } from "../html/h";
import { shortened } from "../html/lengths";
import { code, heading, pager, stored, storedOr, table } from "../html/parts";
import { when } from "../html/times";
import type { ConsoleRoute } from "../serving/console-route";

const PAGE = 25;

/** What people did by hand, newest first. Nothing can be done here: an entry is never changed or dropped. */
export const showAudit: ConsoleRoute = {
  method: "get",
  path: "/audit",
  access: "operator",
  async handle({ query }, { auditTrail }) {
    const { cursor } = query;
    const [kind, actor] = [kindIn(query["kind"]), (query["actor"] ?? "").trim()];
    const page = await auditTrail.list({
      limit: PAGE,
      ...(cursor === undefined ? {} : { cursor }),
      ...(kind === undefined ? {} : { kind }),
      ...(actor === "" ? {} : { actor }),
    });
    const content = h(
      "div",
      null,
      heading("Audit"),
      h("p", { class: "lead" }, "What people did by hand: who, when, from where, and why."),
      h(
        "form",
        { class: "filters", method: "get", action: "/console/audit", role: "search" },
        choice(
          "What",
          "kind",
          [["", "Anything"], ...actKinds.map((one) => [one, inWords(one)] as const)],
          kind,
        ),
        field("By", "actor", { value: actor, maxlength: 255, placeholder: "id of a key, or a user" }),
        button("Find"),
      ),
      h(
        "section",
        { class: "card" },
        table<AuditEntry>(
          "Acts, newest first",
          [
            { name: "At", of: ({ at }) => when(at) },
            { name: "What", of: ({ kind: done }) => inWords(done) },
            { name: "To", of: subjectOf },
            { name: "Merchant", of: ({ merchant }) => storedOr(merchant) },
            { name: "Who", of: ({ actor: who }) => actorOf(who) },
            { name: "From", of: ({ origin }) => stored(originOf(origin)) },
            { name: "Why", of: ({ reason }) => storedOr(reason === null ? null : shortened(reason)) },
          ],
          page.data,
          "Nobody has done anything by hand yet.",
        ),
        pager("/console/audit", query, page.nextCursor),
      ),
    );
    return { title: "Audit", section: "audit", content };
  },
};

function kindIn(text: string | undefined): ActKind | undefined {
  return actKinds.find((kind) => kind === text);
}

function inWords(kind: ActKind): string {
  return kind.replace("api_key", "API key").replaceAll("_", " ").replace(".", " ");
}

function subjectOf({ subject, paymentId, kind }: AuditEntry) {
  if (paymentId !== null) return h("a", { href: `/console/payments/${paymentId}#${subject}` }, code(subject));
  if (kind.startsWith("webhook_endpoint.") && kind !== "webhook_endpoint.deleted")
    return h("a", { href: `/console/webhooks/${subject}` }, code(subject));
  return code(shortened(subject));
}

function actorOf(actor: Actor) {
  if (actor.type === "anyone") return "anyone: there was no key";
  return actor.type === "api_key" ? ["key ", code(actor.id)] : ["user ", stored(actor.name)];
}

function originOf(origin: Origin): string {
  return origin.over === "http"
    ? (origin.address ?? "an unknown address")
    : `the command line on ${origin.host}`;
}
