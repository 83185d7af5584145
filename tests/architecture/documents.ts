import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { projectRoot } from "./planted-project";

export interface Document {
  readonly path: string;
  readonly text: string;
}

/** What belongs to the project, committed or about to be. */
export function projectFiles(): string[] {
  const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
    cwd: projectRoot,
    encoding: "utf8",
  });
  return [...new Set(listed.split("\n"))].filter(
    (path) => path !== "" && existsSync(join(projectRoot, path)),
  );
}

export function documents(): Document[] {
  return projectFiles()
    .filter((path) => path.endsWith(".md"))
    .map((path) => ({ path, text: readFileSync(join(projectRoot, path), "utf8") }));
}

/** Relative links of a document that lead nowhere: to a missing file, or to a heading that its target lacks. */
export function deadLinks({ path, text }: Document): string[] {
  const links = [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? "");
  return links
    .filter((link) => !/^[a-z]+:/i.test(link))
    .filter((link) => {
      const [file = "", heading] = link.split("#");
      const target = file === "" ? path : join(dirname(path), file);
      if (!existsSync(join(projectRoot, target))) return true;
      if (heading === undefined) return false;
      const targetText = file === "" ? text : readFileSync(join(projectRoot, target), "utf8");
      return !headings(targetText).includes(heading);
    })
    .map((link) => `${path}: ${link}`);
}

/** Shell commands that a document tells its reader to type, as words: `npm run x`, `holdfast y`. */
export function commandsIn({ text }: Document, program: string): string[][] {
  const shown = [...text.matchAll(/```(?:sh|bash|console)\n([\s\S]*?)```|`([^`\n]+)`/g)];
  return shown
    .flatMap((match) => (match[1] ?? match[2] ?? "").split(/\n|&&|;|\|/))
    .map((line) => line.replace(/^[\s$]+/, "").split(/\s+/))
    .map((words) => words.slice(words.findIndex((word) => !/^[A-Z_]+=/.test(word))))
    .map((words) => (words[0] === "npx" ? words.slice(1) : words))
    .filter((words) => words[0] === program);
}

/** The sections of an ADR by their heading. */
export function sections(text: string): Map<string, string> {
  const parts = text.split(/^## /m).slice(1);
  return new Map(parts.map((part) => [part.split("\n", 1)[0]?.trim() ?? "", part.slice(part.indexOf("\n"))]));
}

function withoutCode(text: string): string {
  return text.replace(/```[\s\S]*?```/g, "").replace(/`[^`\n]*`/g, "");
}

/** As GitHub makes anchors of headings. */
function headings(text: string): string[] {
  return [...text.replace(/```[\s\S]*?```/g, "").matchAll(/^#+ (.+)$/gm)].map((match) =>
    (match[1] ?? "")
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replace(/ /g, "-"),
  );
}
