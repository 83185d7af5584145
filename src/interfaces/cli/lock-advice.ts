import {
  contentionInWords,
  LockContentionError,
  LockPermitsError,
  LockTimeoutError,
  permitsInWords,
  timeoutInWords,
  type LimitAdvice,
} from "../../application/ports/lock-errors";

/** An error as the command line reports it: what locks say to callers of `withLock`, it says with flags and settings. */
export function messageOf(error: Error): string {
  if (error instanceof LockTimeoutError) return timeoutInWords(error, adviseOnSettings);
  if (error instanceof LockContentionError) return contentionInWords(error, adviseOnSettings);
  if (error instanceof LockPermitsError) return permitsInWords(error, "--slots");
  return error.message;
}

/** Names the source that decided, because a source that it outranks would change nothing. */
export const adviseOnSettings: LimitAdvice = ({ source }) => {
  if (source.startsWith("built-in default"))
    return "wait longer with --lock-timeout <seconds|infinite>, HOLDFAST_LOCK_TIMEOUT or [locking] timeout";
  if (source === "--lock-timeout" || source.startsWith("the server (")) return "raise it there";
  if (/^(HOLDFAST_|\[locking)/.test(source))
    return "raise it there or with --lock-timeout <seconds|infinite>";
  return undefined;
};
