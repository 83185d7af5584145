import type { SandboxManifest } from "../../../application/sandboxes/snapshots/sandbox-manifest";
import { actionForm, button, confirmed } from "../html/forms";
import { h } from "../html/h";
import { badge, code, heading, pager, stored, table } from "../html/parts";
import { when } from "../html/times";
import type { ConsoleRoute } from "../serving/console-route";
import { withSandboxes } from "./one-sandbox";

const PAGE = 25;

export const listSandboxes: ConsoleRoute = {
  method: "get",
  path: "/sandboxes",
  access: "merchant",
  async handle(visit, parts) {
    const { whose, query } = visit;
    const sandboxes = withSandboxes(parts);
    const { cursor } = query;
    const page = await sandboxes.list(whose, {
      limit: PAGE,
      ...(cursor === undefined ? {} : { before: cursor }),
    });
    const content = h(
      "div",
      null,
      heading("Sandboxes"),
      h(
        "p",
        { class: "lead" },
        "Payments worlds for tests, each with a gateway and a clock of its own. Not for live money.",
      ),
      h(
        "section",
        { class: "card" },
        table<SandboxManifest>(
          "Sandboxes, newest first",
          [
            {
              name: "Sandbox",
              of: ({ sandboxId }) => h("a", { href: `/console/sandboxes/${sandboxId}` }, code(sandboxId)),
            },
            ...(whose === null
              ? [{ name: "Merchant", of: ({ merchant }: SandboxManifest) => stored(merchant) }]
              : []),
            { name: "Made", of: ({ createdAt }) => when(createdAt) },
            {
              name: "Owner",
              of: ({ sandboxId, ownerUrl }) =>
                sandboxes.isHere(sandboxId) ? badge("this instance", "good") : stored(ownerUrl),
            },
            { name: "Kept snapshots", isNumber: true, of: ({ kept }) => kept.length },
          ],
          page.data,
          "There are no sandboxes yet.",
        ),
        pager("/console/sandboxes", query, page.next),
      ),
      confirmed(
        "Make a sandbox",
        "It is empty, and its clock shows the present and stands still.",
        actionForm(visit, "/console/sandboxes", {}, button("Make a sandbox")),
      ),
    );
    return { title: "Sandboxes", section: "sandboxes", content };
  },
};
