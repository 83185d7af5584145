import { ERASE_LINE, type TerminalLine } from "../terminal-line";
import type { BatchTally } from "./batch-tally";

const WIDTH = 24;

/** How far a batch is, on a line of a terminal that is written over. Nothing where there is no terminal. */
export class ProgressBar {
  private isShown = false;

  constructor(private readonly line: TerminalLine) {}

  show({ done, total, captured }: BatchTally): void {
    const columns = this.line.columns();
    if (columns === 0) return;
    const filled = Math.floor((done / total) * WIDTH);
    const bar = "#".repeat(filled) + "-".repeat(WIDTH - filled);
    const failed = done === captured ? "" : `, ${counted(done - captured)} not captured`;
    const words = `[${bar}] ${counted(done)} of ${counted(total)}${failed}`;
    // A line that wraps could not be erased as one.
    this.line.write(ERASE_LINE + words.slice(0, columns - 1));
    this.isShown = true;
  }

  end(): void {
    if (this.isShown) this.line.write(ERASE_LINE);
    this.isShown = false;
  }
}

/** 10000 as 10,000, wherever this runs. */
export function counted(count: number): string {
  return count.toLocaleString("en-US");
}
