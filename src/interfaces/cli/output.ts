import { waitFacts, type EndedWait } from "../../application/ports/lock-errors";

/** Where a command's words go: results to stdout and nothing else, everything about them to stderr. */
export interface Streams {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
}

export class Output {
  constructor(
    private readonly streams: Streams,
    private readonly options: { readonly json: boolean; readonly quiet: boolean },
  ) {}

  get isQuiet(): boolean {
    return this.options.quiet;
  }

  /** The same result for people and, with `--json`, for programs. */
  result(json: unknown, text: string): void {
    const line = this.options.json ? JSON.stringify(json) : text;
    if (line !== "") this.streams.stdout.write(`${line}\n`);
  }

  /** Progress and remarks; `--quiet` keeps them back. */
  note(text: string): void {
    if (!this.options.quiet) this.error(text);
  }

  /** An error with its facts; with `--json` one object on stderr, so that programs need not read sentences. */
  failure(error: Error, more = ""): void {
    const message = error.message + more;
    if (this.options.json) {
      this.streams.stderr.write(`${JSON.stringify({ error: { ...factsOf(error), message } })}\n`);
    } else {
      this.error(message);
    }
  }

  /** Each line begins with our name, so that it can be told from a command's own words. */
  error(text: string): void {
    this.streams.stderr.write(`${text.replace(/^/gm, "holdfast: ")}\n`);
  }
}

/** Facts that are worth telling a program; an error's other fields may hold anything. */
function factsOf(error: Error): Readonly<Record<string, unknown>> {
  const { code, resourceId, holder, wait, problem } = error as Facts;
  return { code, resourceId, ...(wait === undefined ? {} : waitFacts(wait)), holder, problem };
}

interface Facts extends Error {
  readonly code?: unknown;
  readonly resourceId?: unknown;
  readonly holder?: unknown;
  readonly wait?: EndedWait;
  readonly problem?: unknown;
}

/** Columns as wide as their widest cell. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, at) => (widths[at] = Math.max(widths[at] ?? 0, cell.length)));
  return rows
    .map((row) =>
      row
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
