import type { CommandToRun } from "./run-command";
import type { Signalled } from "./run-signals";

/**
 * Ends the command before anybody else can be let in: asks it to, as long before that as it is given to end by itself,
 * and kills it when that time is over. Without a warning (the lock's file is gone, its record names another), somebody
 * may be inside already, and the command still has that time.
 */
export function endInTime(
  command: Signalled,
  { hold, onLost, endingMs, say }: Pick<CommandToRun, "hold" | "onLost" | "endingMs" | "say">,
): { readonly isAsked: boolean; stop(): void } {
  let timer: NodeJS.Timeout | undefined;
  let isAsked = false;
  const ask = (why: string): void => {
    if (isAsked) return;
    isAsked = true;
    clearTimeout(timer);
    say(`${why}; ending the command`);
    command.kill("SIGTERM");
    timer = setTimeout(() => command.kill("SIGKILL"), Math.max(0, Math.min(endingMs, hold.aloneForMs())));
  };
  const watch = (): void => {
    const leftMs = hold.aloneForMs() - endingMs;
    if (leftMs === Infinity) return;
    if (leftMs <= 0)
      return ask(
        `the lock cannot be renewed: the lock service does not answer, and the lock may end in ${Math.round(endingMs / 1_000)} s`,
      );
    timer = setTimeout(watch, Math.ceil(leftMs));
  };
  const onLoss = (): void => {
    const why = `the lock is lost (${String(hold.signal.reason)})`;
    if (onLost === "kill") ask(why);
    else say(`${why}; the command continues without it`);
  };
  if (hold.signal.aborted) onLoss();
  else {
    hold.signal.addEventListener("abort", onLoss, { once: true });
    if (onLost === "kill") watch();
  }
  return {
    get isAsked() {
      return isAsked;
    },
    stop: () => {
      clearTimeout(timer);
      hold.signal.removeEventListener("abort", onLoss);
    },
  };
}
