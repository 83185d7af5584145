import { longestHoldMs } from "../../../application/time-budgets";
import type { StoreSetting } from "../../configuration/adapter-urls";
import { withoutPassword } from "../../configuration/addresses";
import type { Configuration } from "../../configuration/configuration";
import { adviseLocks, isNetwork, lockKinds, type LockSetting } from "../../configuration/lock-catalogue";
import { inWords } from "../../configuration/lock-timeouts";
import { lostLogInWords, type LostLog } from "../../persistence/sqlite/sqlite-commit-mark";
import { isAlone } from "../opening/open-sandboxes";
import { locksInWords } from "./refusals";

/** What an operator reads when the server has started: where everything is, and what protects less than it seems to. */
export function startingLines(
  configuration: Configuration,
  locks: LockSetting,
  lostLogs: readonly LostLog[],
): string[] {
  const { store } = configuration.settings;
  return [
    `store ${withoutPassword(store.text ?? "")}, locks ${locksInWords(configuration, locks)}`,
    ...lostLogs.map((lost) => `warning: ${lostLogInWords(lost)}`),
    ...unneededConsent(configuration, lostLogs),
    ...aloneOnSharedStore(store.value, locks),
    ...aloneOnSharedSnapshots(configuration, locks),
    ...shortLimit(configuration),
  ];
}

function unneededConsent({ settings }: Configuration, lostLogs: readonly LostLog[]): string[] {
  const { value, source } = settings.acceptLostLog;
  if (!value || lostLogs.length > 0) return [];
  return [`warning: ${source} was not needed: remove it, or the next loss will be accepted without notice`];
}

/** Right for one instance; a second one would be noticed by its callers, and this line tells them why. */
function aloneOnSharedStore(store: StoreSetting, { kind }: LockSetting): string[] {
  const { reach } = lockKinds[kind];
  if (store.kind !== "postgres" || (reach !== "process" && reach !== "host")) return [];
  return [
    `warning: locks ${kind}: exclude only callers of this ${reach}, but other instances may use this database. ` +
      "The store's versions and constraints and the gateway's keys still move money only once; callers of two instances may " +
      "receive 409 payment_busy or capture_in_progress, or 202, where they would have waited. Set --locks postgres: " +
      "unless there is only one instance",
  ];
}

function aloneOnSharedSnapshots({ settings }: Configuration, locks: LockSetting): string[] {
  const { sandboxLimit, snapshots } = settings;
  if (sandboxLimit.value === 0 || snapshots.value.kind !== "gcs" || !isAlone(locks)) return [];
  return [
    "warning: sandboxes are owned by this process alone, but other instances may use the same snapshots: each would " +
      `take them from the other without asking. Set --locks to ${adviseLocks(isNetwork)} unless this is the only instance`,
  ];
}

function shortLimit({ lockTimeouts }: Configuration): string[] {
  const { value, source } = lockTimeouts.scopes.payment;
  if (value === "infinite" || value >= longestHoldMs) return [];
  return [
    `warning: callers wait ${inWords(value)} s for a payment's lock (${source}), ` +
      `less than the ${longestHoldMs / 1_000} s that a healthy holder may need`,
  ];
}
