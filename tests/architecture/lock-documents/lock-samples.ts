import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import * as ts from "typescript";
import { projectRoot } from "../planted-project";

/** A sample that a test runs, with the prose of its section. */
export interface LockSample {
  readonly page: string;
  readonly heading: string;
  readonly prose: string;
  readonly code: string;
  /** The variable that says where the server is that it needs. */
  readonly needs?: string;
}

const MARKED = /<!-- a test runs this(?:, with (\w+))? -->\n\n```ts\n([\s\S]*?)```/;

export function samplesOf(page: string, text: string): LockSample[] {
  return text.split(/^#{2,3} /m).flatMap((section) => {
    const [, needs, code] = MARKED.exec(section) ?? [];
    if (code === undefined) return [];
    const heading = section.slice(0, section.indexOf("\n"));
    const prose = section.replace(/```[\s\S]*?```/g, "");
    return [{ page, heading, prose, code, ...(needs !== undefined && { needs }) }];
  });
}

export const readPage = (page: string): string => readFileSync(join(projectRoot, page), "utf8");

export const pagesIn = (folder: string): string[] =>
  readdirSync(join(projectRoot, folder))
    .filter((file) => file.endsWith(".md"))
    .map((file) => `${folder}/${file}`);

/** In a project of another author. */
export const fileOf = ({ page, heading }: LockSample): string =>
  `${basename(page, ".md")}-${heading.toLowerCase().replace(/[^a-z]+/g, "-")}.mts`;

export const LOCK_ENTRIES = ["locks", "memory-locks", "lock-contract", "lock-testing", "lock-metrics"];

/** What an entry exports, as it is written there. */
export function exportedBy(text: string): string[] {
  const { statements } = ts.createSourceFile("entry.ts", text, ts.ScriptTarget.Latest);
  return statements.flatMap((statement) =>
    ts.isExportDeclaration(statement) &&
    statement.exportClause !== undefined &&
    ts.isNamedExports(statement.exportClause)
      ? statement.exportClause.elements.map(({ name }) => name.text)
      : [],
  );
}

/** Names that no paragraph has beside a sample that uses them. */
export function untold(names: readonly string[], samples: readonly LockSample[]): string[] {
  const tells = ({ prose, code }: LockSample, name: string): boolean =>
    prose.split(/\n(?=- |\n)/).some((paragraph) => paragraph.includes(`\`${name}\``)) &&
    new RegExp(`\\b${name}\\b`).test(code);
  return names.filter((name) => !samples.some((sample) => tells(sample, name)));
}
