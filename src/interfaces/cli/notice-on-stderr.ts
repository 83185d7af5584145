import { performance } from "node:perf_hooks";
import type { Output } from "./output";
import { WaitingNotice } from "./run/waiting-notice";

/** Told on stderr, unless that is to be quiet. */
export function noticeOnStderr(output: Output): WaitingNotice {
  // Opened before the command starts: opening makes a pipe non-blocking for all who share it, starting a command undoes
  // that, and a command that inherits a non-blocking stderr fails in the middle of a long line. For the same reason
  // nothing here touches `process.stdin`.
  const { stderr } = process;
  const rewritable = stderr.isTTY && process.env["TERM"] !== "dumb" && !output.isJson;
  return new WaitingNotice({
    write: (text) => void (output.isQuiet || stderr.write(text)),
    note: (text) => output.note(text),
    columns: () => (rewritable ? stderr.columns : 0),
    nowMs: () => performance.now(),
    wallMs: () => Date.now(),
    after: (ms, callback) => {
      const timer = setTimeout(callback, ms);
      return () => clearTimeout(timer);
    },
  });
}
