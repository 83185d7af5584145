/** What a suite found out about one piece of work. */
export interface Row {
  readonly suite: string;
  readonly work: string;
  readonly against: string;
  /** The aim in words, with its direction: `≥ 0.9 ×`. Null where a figure is only for comparison. */
  readonly reach: string | null;
  readonly reached: boolean | null;
  /** Ours by theirs, from the two of each round. */
  readonly ratio: Spread;
  readonly ours: string;
  readonly theirs: string;
  readonly rounds: number;
}

/** The median of all rounds, and their interquartile range. */
export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  return { median: quantile(sorted, 0.5), low: quantile(sorted, 0.25), high: quantile(sorted, 0.75) };
}

/** Of values in ascending order; between two of them it is drawn as a line. */
export function quantile(sorted: readonly number[], share: number): number {
  if (sorted.length === 0) throw new Error("nothing was measured");
  const at = (sorted.length - 1) * share;
  const below = sorted[Math.floor(at)]!;
  return below + (sorted[Math.ceil(at)]! - below) * (at - Math.floor(at));
}
