import type { Output } from "./output";

export const ERASE_LINE = "\r\x1b[2K";

/** A line of stderr that can be written over. */
export interface TerminalLine {
  /** As it is. With `--quiet` nothing is written. */
  readonly write: (text: string) => void;
  /** Zero where there is no terminal whose line could be rewritten. */
  readonly columns: () => number;
}

export function lineOnStderr(output: Pick<Output, "isJson" | "isQuiet">): TerminalLine {
  const { stderr } = process;
  const rewritable = stderr.isTTY && process.env["TERM"] !== "dumb" && !output.isJson;
  return {
    write: (text) => void (output.isQuiet || stderr.write(text)),
    columns: () => (rewritable ? stderr.columns : 0),
  };
}
