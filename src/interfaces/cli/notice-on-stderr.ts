import { performance } from "node:perf_hooks";
import type { Output } from "./output";
import { lineOnStderr } from "./terminal-line";
import { WaitingNotice } from "./run/waiting-notice";

/** Told on stderr, unless that is to be quiet. */
export function noticeOnStderr(output: Output): WaitingNotice {
  // Opened before the command starts: opening makes a pipe non-blocking for all who share it, starting a command undoes
  // that, and a command that inherits a non-blocking stderr fails in the middle of a long line. For the same reason
  // nothing here touches `process.stdin`.
  const line = lineOnStderr(output);
  return new WaitingNotice({
    ...line,
    note: (text) => output.note(text),
    nowMs: () => performance.now(),
    wallMs: () => Date.now(),
    after: (ms, callback) => {
      const timer = setTimeout(callback, ms);
      return () => clearTimeout(timer);
    },
  });
}
