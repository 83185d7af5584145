import type { HintStore } from "../../../src/application/ports/gateway-events/hint-store";

/** Mistakes that only a death at the wrong moment brings to light. */
export const hintMistakes = {
  "an event is acknowledged before it is stored": (hints: HintStore): Partial<HintStore> => ({
    receive: async (received, now) => {
      void hints.receive(received, now);
      return received.length;
    },
  }),
  "a hint is dropped when it is lent": (hints: HintStore): Partial<HintStore> => ({
    claim: async (wish) => {
      const lent = await hints.claim(wish);
      for (const hint of lent) await hints.settle(wish.owner, hint, null);
      return lent;
    },
  }),
  "the position in the list moves before what is there was received": (
    hints: HintStore,
  ): Partial<HintStore> => ({
    beginCatchUp: async (now, everyMs) => {
      const begun = await hints.beginCatchUp(now, everyMs);
      if (begun !== null) await hints.caughtUp(now);
      return begun;
    },
  }),
} as const;

export type HintMistake = keyof typeof hintMistakes;

export function plantedIn(hints: HintStore, mistake: HintMistake): HintStore {
  const mistaken = hintMistakes[mistake](hints);
  return new Proxy(hints, {
    get(object, name) {
      const member: unknown = Reflect.get(mistaken, name) ?? Reflect.get(object, name, object);
      return typeof member === "function" ? (member.bind(object) as unknown) : member;
    },
  });
}
