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
}

export const lifeProfiles: readonly [LifeProfile, ...LifeProfile[]] = [
  { name: "one server", processes: 1, locks: "memory", faultRate: 0.05 },
  { name: "two servers that overlap", processes: 2, locks: "memory", faultRate: 0.05 },
  { name: "no lock", processes: 3, locks: "none", faultRate: 0.05 },
  { name: "locks that are lost", processes: 2, locks: "lost", faultRate: 0.1 },
  { name: "a forgetful gateway", processes: 2, locks: "none", faultRate: 0.1, gatewayForgetsAfterHours: 24 },
  { name: "a storm", processes: 3, locks: "none", faultRate: 0.4 },
];
