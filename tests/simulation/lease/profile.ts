/** How bad the world is. Probabilities are per request; means and durations in true milliseconds. */
export interface Profile {
  readonly name: string;
  /** The request never arrives. */
  readonly dropped: number;
  /** It is applied, and the answer never comes. */
  readonly answerLost: number;
  /** It arrives up to a minute later, long after its sender has given it up. */
  readonly late: number;
  /** It is applied, then arrives again; the sender hears one of the two answers. */
  readonly doubled: number;
  /** 503, half of them after having applied the request. */
  readonly refused: number;
  /** A write is applied at once, and answered after its sender has given it up. Nothing is wrong with reads. */
  readonly answeredLate: number;
  /** 429 out of the blue; besides, every third write within a second of the last one gets it. */
  readonly throttled: number;
  /** The mean time between two network cuts of one process, and how long they last. */
  readonly cutEveryMs: number;
  readonly longestCutMs: number;
  readonly stallEveryMs: number;
  readonly longestStallMs: number;
  readonly crashEveryMs: number;
  /** A process ends in an orderly way, and another one takes its place. */
  readonly closeEveryMs: number;
  readonly wallSkewMs: number;
  readonly drift: number;
  readonly age: "exact" | "whole seconds" | "unknown";
}

const NEVER = Infinity;

export const calm: Profile = {
  name: "calm",
  dropped: 0,
  answerLost: 0,
  late: 0,
  doubled: 0,
  refused: 0,
  answeredLate: 0,
  throttled: 0,
  cutEveryMs: NEVER,
  longestCutMs: 0,
  stallEveryMs: NEVER,
  longestStallMs: 0,
  crashEveryMs: NEVER,
  closeEveryMs: NEVER,
  wallSkewMs: 0,
  drift: 0,
  age: "exact",
};

/** Nothing but wrong clocks: whoever loses a lock here lost it to a clock. */
export const skewed: Profile = {
  ...calm,
  name: "skewed",
  wallSkewMs: 3_600_000,
  drift: 0.01,
  age: "whole seconds",
};

/** Healthy requests, mortal processes: what is bounded can be checked to the millisecond. */
export const mortal: Profile = {
  ...skewed,
  name: "mortal",
  age: "exact",
  crashEveryMs: 120_000,
  closeEveryMs: 240_000,
};

/** As `mortal`, on a store that tells time in whole seconds. */
export const coarse: Profile = { ...mortal, name: "coarse", age: "whole seconds" };

/** As `mortal`, on a store that cannot tell how old a record is: everything rests on what each process has seen. */
export const ageless: Profile = { ...mortal, name: "ageless", age: "unknown" };

export const rough: Profile = {
  name: "rough",
  dropped: 0.02,
  answerLost: 0.03,
  late: 0.03,
  doubled: 0.02,
  refused: 0.03,
  answeredLate: 0,
  throttled: 0.02,
  cutEveryMs: 300_000,
  longestCutMs: 15_000,
  stallEveryMs: 200_000,
  longestStallMs: 60_000,
  crashEveryMs: 300_000,
  closeEveryMs: 300_000,
  wallSkewMs: 3_600_000,
  drift: 0.01,
  age: "whole seconds",
};

export const stormy: Profile = {
  ...rough,
  name: "stormy",
  dropped: 0.08,
  answerLost: 0.1,
  late: 0.08,
  doubled: 0.05,
  refused: 0.1,
  throttled: 0.05,
  cutEveryMs: 90_000,
  longestCutMs: 50_000,
  stallEveryMs: 120_000,
};

/** Writes that hang behind something, reads that do not: whoever reads has no reason to lose anything. */
export const sluggish: Profile = { ...skewed, name: "sluggish", answeredLate: 0.8 };

export const profiles = [calm, skewed, mortal, coarse, ageless, sluggish, rough, stormy] as const;
