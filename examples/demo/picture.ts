/** Where a story is shown: a terminal, a file, or a pipe. */
export interface Screen {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

type Colour = "bold" | "green" | "red" | "dim";
const CODES: Readonly<Record<Colour, number>> = { bold: 1, dim: 2, red: 31, green: 32 };
const LONGEST_BAR = 40;

/**
 * Shows progress where it can be written over, and tables everywhere. Colours only in a terminal, and not where NO_COLOR says
 * so (https://no-color.org).
 */
export class Picture {
  private readonly isTerminal: boolean;
  private readonly hasColours: boolean;

  constructor(
    private readonly screen: Screen,
    environment: Readonly<Record<string, string | undefined>>,
  ) {
    const { NO_COLOR = "", TERM } = environment;
    this.isTerminal = screen.isTTY === true && TERM !== "dumb";
    this.hasColours = this.isTerminal && NO_COLOR === "";
  }

  title(text: string): void {
    this.screen.write(`\n${this.coloured("bold", text)}\n`);
  }

  line(text: string): void {
    this.screen.write(`  ${text}\n`);
  }

  verdict(isGood: boolean, text: string): void {
    this.line(this.coloured(isGood ? "green" : "red", `${isGood ? "✔" : "✘"} ${text}`));
  }

  /** Written over by the next one, and by whatever comes when all are done. */
  progress(done: number, all: number, text: string): void {
    if (!this.isTerminal) return;
    const most = Math.max(0, (this.screen.columns ?? 80) - text.length - 12);
    const width = Math.min(LONGEST_BAR, most);
    const filled = Math.floor((width * done) / all);
    const bar = "█".repeat(filled) + this.coloured("dim", "░".repeat(width - filled));
    const count = String(done).padStart(String(all).length);
    this.screen.write(`\r  ${bar} ${count} ${text}${done === all ? "\r\u001b[2K" : ""}`);
  }

  /** The first column is text, the others are numbers; a 0 is not worth looking at. */
  table(head: readonly string[], rows: readonly (readonly [string, ...number[]])[]): void {
    const cells = [head, ...rows.map((row) => row.map((cell) => (cell === 0 ? "–" : String(cell))))];
    const widths = head.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
    for (const [at, row] of cells.entries()) {
      const padded = row.map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      );
      const text = padded.join("   ");
      this.line(at === 0 ? this.coloured("dim", text) : text);
    }
  }

  private coloured(colour: Colour, text: string): string {
    return this.hasColours && text !== "" ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text;
  }
}
