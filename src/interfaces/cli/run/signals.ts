import { constants } from "node:os";

/** What a shell or a service manager sends to end a command, or to talk to it. */
export const passedOn = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"] as const;
export type PassedOnSignal = (typeof passedOn)[number];

/** As shells report it: 128 and the signal's number. */
export function statusOfSignal(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}
