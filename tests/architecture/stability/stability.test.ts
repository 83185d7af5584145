import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { changedSince, publicSurface } from "../../../scripts/public-surface";
import { projectRoot } from "../planted-project";

const releases = join(projectRoot, "docs", "released");
const versions = readdirSync(releases)
  .map((file) => file.replace(/\.txt$/, ""))
  .sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
const last = versions.at(-1) ?? "none";
const released = readFileSync(join(releases, `${last}.txt`), "utf8")
  .trim()
  .split("\n");

/** What the CHANGELOG calls breaking since that version. */
function calledBreaking(changelog: string, version: string): string[] {
  const since = changelog.split(new RegExp(`^## ${version.replaceAll(".", "\\.")}\\b`, "m"))[0] ?? "";
  return since
    .split(/^### /m)
    .filter((section) => section.startsWith("Breaking"))
    .flatMap((section) => [...section.matchAll(/^- `([^`]+)`/gm)].map(([, line]) => line ?? ""));
}

describe("what users build on", () => {
  test("has not changed since the last release, unless the CHANGELOG calls it breaking", () => {
    const breaking = calledBreaking(readFileSync(join(projectRoot, "CHANGELOG.md"), "utf8"), last);
    const changed = changedSince(released, publicSurface());
    expect(changed.filter((line) => !breaking.includes(line))).toEqual([]);
    // What is called breaking and is not would frighten users for nothing.
    expect(breaking.filter((line) => !changed.includes(line))).toEqual([]);
  });

  test.each([
    "operation capturePayment: status 201",
    'field Payment.status: may be "captured"',
    "problem payment_not_found 404",
    "setting --store HOLDFAST_STORE",
    "exit lock_timeout 75",
    "export withLocks of holdfast/locks",
  ])("is noticed when it goes: %s", (line) => {
    const now = publicSurface();
    expect(now).toContain(line);
    expect(released).toContain(line);
    expect(
      changedSince(
        released,
        now.filter((one) => one !== line),
      ),
    ).toContain(line);
  });

  test("is noticed when it asks for more than it did", () => {
    const before = ["field CaptureRequest.amount: integer", "field CaptureRequest: object"];
    const more = "field CaptureRequest requires reason";
    expect(changedSince(before, [...before, more])).toEqual([more]);
    expect(changedSince(before, [...before, "field NewRequest requires reason"])).toEqual([]);
  });

  test("is called breaking in the section of its version alone", () => {
    const changelog =
      "## Unreleased\n### Breaking\n- `a`: why\n### Changes\n- `b`\n## 1.0.0\n### Breaking\n- `c`\n";
    expect(calledBreaking(changelog, "1.0.0")).toEqual(["a"]);
  });
});
