import { waitFacts, type EndedWait } from "../../application/ports/lock-errors";
import { messageOf } from "./lock-advice";

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

  get isJson(): boolean {
    return this.options.json;
  }

  /** The same result for people and, with `--json`, for programs. */
  result(json: unknown, text: string): void {
    const line = this.options.json ? JSON.stringify(json) : text;
    if (line !== "") this.streams.stdout.write(`${line}\n`);
  }

  /** Progress and remarks; `--quiet` keeps them back. */
  note(text: string, facts: Facts = {}): void {
    if (!this.options.quiet) this.warn(text, facts);
  }

  /** A remark that the caller has to see, with `--quiet` too. */
  warn(message: string, facts: Facts = {}): void {
    this.tell("note", { ...facts, message });
  }

  /** What ended the command, with its facts. */
  failure(error: Error, more = ""): void {
    this.tell("error", { ...factsOf(error), message: messageOf(error) + more });
  }

  /** An error that nothing was prepared for. */
  defect(error: unknown): void {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.tell("error", { code: "internal_error", message });
  }

  /**
   * With `--json`, each line on stderr is one object, so that programs need not read sentences. Else each line begins with
   * the program's name, which sets it apart from the words of a command under `run`.
   */
  private tell(kind: "note" | "error", facts: Facts & { readonly message: string }): void {
    const text = this.options.json
      ? JSON.stringify({ [kind]: facts })
      : facts.message.replace(/^/gm, "holdfast: ");
    this.streams.stderr.write(`${text}\n`);
  }
}

type Facts = Readonly<Record<string, unknown>>;

/** Facts that are worth telling a program; an error's other fields may hold anything. */
function factsOf(error: Error): Facts {
  const { code, outcome, resourceId, holder, wait, problem } = error as ErrorWithFacts;
  return { code, outcome, resourceId, ...(wait && waitFacts(wait)), holder, problem };
}

interface ErrorWithFacts extends Error {
  readonly code?: unknown;
  readonly outcome?: unknown;
  readonly resourceId?: unknown;
  readonly holder?: unknown;
  readonly wait?: EndedWait;
  readonly problem?: unknown;
}

/** Columns as wide as their widest cell. What others have written stays in its cell, and says nothing to the terminal. */
export function table(given: readonly (readonly string[])[]): string {
  const rows = given.map((row) => row.map((cell) => cell.replace(/\p{Cc}+/gu, " ")));
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
