import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { changedSince, publicSurface } from "../../../scripts/public-surface";
import packageJson from "../../../package.json";
import { projectRoot } from "../planted-project";

const releases = join(projectRoot, "docs", "released");
const versions = readdirSync(releases)
  .map((file) => file.replace(/\.txt$/, ""))
  .sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
const last = versions.at(-1) ?? "none";
const surfaceOf = (version: string): string[] =>
  readFileSync(join(releases, `${version}.txt`), "utf8")
    .trim()
    .split("\n");
const released = surfaceOf(last);
const changelog = readFileSync(join(projectRoot, "CHANGELOG.md"), "utf8");

const sectionsFrom = (text: string, version: string): string[] =>
  text.split(new RegExp(`^## ${version.replaceAll(".", "\\.")}\\b`, "m"));

/** What the CHANGELOG calls breaking since that version, and until the other one, if there is one. */
function calledBreaking(text: string, version: string, until?: string): string[] {
  const since = sectionsFrom(text, version)[0] ?? "";
  const meant = until === undefined ? since : (sectionsFrom(since, until)[1] ?? "");
  return meant
    .split(/^### /m)
    .filter((section) => section.startsWith("Breaking"))
    .flatMap((section) => [...section.matchAll(/^- `([^`]+)`/gm)].map(([, line]) => line ?? ""));
}

describe("what users build on", () => {
  test("has not changed since the last release, unless the CHANGELOG calls it breaking", () => {
    const breaking = calledBreaking(changelog, last);
    const changed = changedSince(released, publicSurface());
    expect(changed.filter((line) => !breaking.includes(line))).toEqual([]);
    // What is called breaking and is not would frighten users for nothing.
    expect(breaking.filter((line) => !changed.includes(line))).toEqual([]);
  });

  test.each(versions.slice(1).map((version, n) => [version, versions[n] ?? ""]))(
    "has changed in %s against %s in what the CHANGELOG calls breaking, and in nothing else",
    (version, before) => {
      const changed = changedSince(surfaceOf(before), surfaceOf(version));
      expect(calledBreaking(changelog, before, version).sort()).toEqual(changed.sort());
    },
  );

  test("of this version is on record, with a section of the CHANGELOG", () => {
    expect([last, packageJson.version]).toEqual([last, last]);
    expect(changelog).toMatch(
      new RegExp(`^## Unreleased$[^]*^## ${last.replaceAll(".", "\\.")} – \\d{4}-\\d\\d-\\d\\d$`, "m"),
    );
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
    const example =
      "## Unreleased\n### Breaking\n- `a`: why\n### Changes\n- `b`\n## 1.0.0\n### Breaking\n- `c`\n";
    expect(calledBreaking(example, "1.0.0")).toEqual(["a"]);
    const later = `## Unreleased\n${example.replace("## Unreleased", "## 1.1.0 – 2026-01-02")}`;
    expect(calledBreaking(later, "1.1.0")).toEqual([]);
    expect(calledBreaking(later, "1.0.0", "1.1.0")).toEqual(["a"]);
  });
});
