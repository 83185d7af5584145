import type { LockHold, LockOptions } from "../../../application/ports/lock-provider";
import { within, type LockContractWorld } from "./contract-test";

/** Somebody who is inside and stays until told to leave. */
export interface Occupant {
  readonly hold: LockHold;
  readonly leave: () => Promise<void>;
}

/** Resolves when the caller is inside. */
export async function occupy(
  { locks, patienceMs, onEnd }: LockContractWorld,
  resourceId: string,
  options: LockOptions = {},
): Promise<Occupant> {
  let letGo!: () => void;
  const toldToLeave = new Promise<void>((resolve) => (letGo = resolve));
  onEnd(letGo);
  let done: Promise<void> | undefined;
  const inside = new Promise<LockHold>((resolve, reject) => {
    const stay = (hold: LockHold): Promise<void> => {
      resolve(hold);
      return toldToLeave;
    };
    done = locks.withLock(resourceId, stay, { timeout: patienceMs, ...options });
    done.catch(reject);
  });
  const hold = await within(patienceMs, inside);
  return {
    hold,
    leave: async () => {
      letGo();
      await done;
    },
  };
}

/** One patient acquisition of a lock that has to come free. */
export function enter<T>(
  { locks, patienceMs }: Pick<LockContractWorld, "locks" | "patienceMs">,
  resourceId: string,
  criticalSection: (hold: LockHold) => T | PromiseLike<T>,
  options: LockOptions = {},
): Promise<T> {
  const entering = locks.withLock(resourceId, criticalSection, { timeout: patienceMs, ...options });
  return heard(within(patienceMs * 2, entering));
}

/** To be awaited later, and no unhandled rejection if the test fails before that. */
export function heard<T>(work: Promise<T>): Promise<T> {
  work.catch(() => {});
  return work;
}

/** Gives everybody else the chance to do what they must not do. */
export async function aWhile(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** Ids that a careless backend takes for one another, or for a path, or for nothing. */
export const LITERAL_IDS: readonly string[] = [
  "payment:1",
  "Payment:1",
  "payment:1 ",
  " payment:1",
  "payment:10",
  "payment:1/",
  "payment:1\n",
  "payment:1\0",
  "payment%3A1",
  "payment_1",
  "../payment:1",
  "/payment:1",
  ".",
  "..",
  "caf\u00e9",
  "cafe\u0301",
  "\u{1F512}",
  `long:${"x".repeat(3000)}`,
  `long:${"x".repeat(3000)}y`,
];
