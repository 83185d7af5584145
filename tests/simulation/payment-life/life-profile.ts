/** What may happen in a life beyond requests, crashes and a bad network. */
export type Trouble =
  /** Clocks that are hours or weeks ahead or behind, and are set right again. */
  | "wrong clocks"
  /** The gateway refuses voids, takes its time, loses refunds after they succeeded, and others use its dashboard. */
  | "a gateway of its own mind"
  /** Persons decide too early, wrongly, and about what nobody asked them. */
  | "persons who err"
  /** The store is gone for a while. */
  | "a store that goes away"
  /** The gateway draws pictures, and payments are compared with them, by several at once. */
  | "observers"
  /** The gateway speaks first, of anything at any time, before its own answers, too, and any process follows it. */
  | "hints";

/** What kind of a world payments live in. */
export interface LifeProfile {
  readonly name: string;
  readonly processes: number;
  /** `memory`: each process has its own, so that two of them do not see each other. `lost`: nobody is kept out, and holds end. */
  readonly locks: "memory" | "none" | "lost";
  /** How likely each thing that can fail is to. */
  readonly faultRate: number;
  /** After this many hours the gateway no longer knows a key; undefined: it never forgets. */
  readonly gatewayForgetsAfterHours?: number;
  readonly troubles?: readonly Trouble[];
}

const all: readonly Trouble[] = [
  "wrong clocks",
  "a gateway of its own mind",
  "persons who err",
  "a store that goes away",
];

export const lifeProfiles: readonly [LifeProfile, ...LifeProfile[]] = [
  { name: "one server", processes: 1, locks: "memory", faultRate: 0.05 },
  { name: "two servers that overlap", processes: 2, locks: "memory", faultRate: 0.05 },
  { name: "no lock", processes: 3, locks: "none", faultRate: 0.05 },
  { name: "locks that are lost", processes: 2, locks: "lost", faultRate: 0.1 },
  { name: "a forgetful gateway", processes: 2, locks: "none", faultRate: 0.2, gatewayForgetsAfterHours: 2 },
  { name: "a storm", processes: 3, locks: "none", faultRate: 0.4 },
  { name: "wrong clocks", processes: 2, locks: "none", faultRate: 0.05, troubles: ["wrong clocks"] },
  {
    name: "a gateway of its own mind",
    processes: 2,
    locks: "memory",
    faultRate: 0.05,
    troubles: ["a gateway of its own mind"],
  },
  {
    name: "persons who err",
    processes: 2,
    locks: "none",
    faultRate: 0.2,
    troubles: ["a gateway of its own mind", "persons who err"],
  },
  {
    name: "a store that goes away",
    processes: 2,
    locks: "none",
    faultRate: 0.1,
    troubles: ["a store that goes away"],
  },
  {
    name: "observers",
    processes: 3,
    locks: "none",
    faultRate: 0.1,
    troubles: ["a gateway of its own mind", "observers"],
  },
  {
    name: "hints",
    processes: 3,
    locks: "none",
    faultRate: 0.1,
    troubles: ["a gateway of its own mind", "observers", "hints"],
  },
  { name: "everything at once", processes: 3, locks: "none", faultRate: 0.2, troubles: all },
];
