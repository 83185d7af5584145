import { closeSync, openSync, readFileSync } from "node:fs";
import type { PassedOnSignal } from "./signals";

/**
 * Whether a signal came to the command as well: a terminal sends its Ctrl-C and Ctrl-\ to every process of its
 * foreground group, and the command is in ours. Whether stdin or stderr is a terminal says nothing about that. (A SIGINT
 * that somebody sends to this process alone while it is in the foreground cannot be told from the terminal's own.)
 */
export function cameFromTerminal(signal: PassedOnSignal): boolean {
  return (signal === "SIGINT" || signal === "SIGQUIT") && isInForeground();
}

function isInForeground(): boolean {
  let stat: string;
  try {
    stat = readFileSync("/proc/self/stat", "utf8");
  } catch {
    return hasTerminal();
  }
  // After the name in brackets, which may hold anything: state, parent, group, session, terminal, its foreground group.
  const [, , group, , terminal, foreground] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return terminal !== "0" && foreground === group;
}

/** Without /proc: in the background of a terminal there is no Ctrl-C, so only having one is asked. */
function hasTerminal(): boolean {
  try {
    closeSync(openSync("/dev/tty", "r"));
    return true;
  } catch {
    return false;
  }
}
