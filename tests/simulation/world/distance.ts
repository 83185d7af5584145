import type { SeededRandom } from "../lease/seeded-random";
import type { Owner, VirtualTime } from "./time/virtual-time";

/** What becomes of one call: it fails before it was done, or after; undefined: it comes through. */
export type Fault = { readonly when: "before" | "after"; readonly error: Error } | undefined;

export interface Road {
  readonly time: VirtualTime;
  readonly random: SeededRandom;
  /** Who calls. What it asked for is done or not when it dies meanwhile, and it hears no answer. */
  readonly owner: Owner;
  readonly fault: (method: string, args: readonly unknown[]) => Fault;
  readonly onCall?: (method: string, args: readonly unknown[]) => void;
}

const LONGEST_MS = 3;

/** What several processes share, as one of them sees it: each call takes its time, half of it on the way there or on the way back. */
export function atADistance<T extends object>(target: T, road: Road): T {
  const made = new Map<PropertyKey, unknown>();
  return new Proxy(target, {
    get(object, name) {
      const member: unknown = Reflect.get(object, name, object);
      if (typeof member === "object" && member !== null && typeof name === "string") {
        const known = made.get(name) ?? atADistance(member, road);
        made.set(name, known);
        return known;
      }
      if (typeof member !== "function") return member;
      const known =
        made.get(name) ??
        ((...args: unknown[]) =>
          carried(road, String(name), args, () => Reflect.apply(member, object, args) as unknown));
      made.set(name, known);
      return known;
    },
  });
}

function carried(
  { time, random, owner, fault, onCall }: Road,
  method: string,
  args: readonly unknown[],
  work: () => unknown,
): Promise<unknown> {
  onCall?.(method, args);
  const failure = fault(method, args);
  const ms = random.next() * LONGEST_MS;
  const isDoneAtOnce = random.chance(0.5);
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => reject(error instanceof Error ? error : new Error(String(error)));
    if (failure?.when === "before") return void time.after(ms, () => fail(failure.error), owner);
    // Woken by what another process did: it goes on as itself.
    const asItself = (go: () => void) => (time.owner === owner ? go() : void time.after(0, go, owner));
    const inItsTime = (go: () => void) => (isDoneAtOnce ? void time.after(ms, go, owner) : asItself(go));
    const begin = (): void => {
      Promise.resolve(work()).then(
        (value) => inItsTime(() => (failure === undefined ? resolve(value) : fail(failure.error))),
        (error: unknown) => inItsTime(() => fail(error)),
      );
    };
    if (isDoneAtOnce) begin();
    else time.after(ms, begin, owner);
  });
}
