import { spreadOf, type Row } from "./row";

/** One side of a comparison: does its share of a round, and resolves with what was measured. */
export type Side = () => Promise<number>;

export type Measured<Name extends string> = Readonly<Record<Name, readonly number[]>>;

/**
 * Runs all sides in turn, round by round (A B C A B C …), so that what the machine does meanwhile happens to all of
 * them. The warm-up rounds count for nobody.
 */
export async function sideBySide<Name extends string>(
  rounds: number,
  sides: Readonly<Record<Name, Side>>,
  warmUps = 1,
): Promise<Measured<Name>> {
  const names = Object.keys(sides) as Name[];
  const measured = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let round = -warmUps; round < rounds; round += 1)
    for (const name of names) {
      const value = await sides[name]();
      if (round >= 0) measured[name].push(value);
    }
  return measured;
}

export interface Comparison {
  readonly suite: string;
  readonly work: string;
  readonly against: string;
  /** The ratio to reach, and from which side of it. Absent: only for comparison. */
  readonly atLeast?: number;
  readonly atMost?: number;
  readonly ours: readonly number[];
  readonly theirs: readonly number[];
  /** Whether the figures are costs; a ratio of `atLeast` then says how much faster ours is. */
  readonly costs?: boolean;
  readonly show: (value: number) => string;
}

/** The ratio is made within each round, and only then is the median taken. */
export function compare(comparison: Comparison): Row {
  const { suite, work, against, atLeast, atMost, ours, theirs, show } = comparison;
  const inverted = comparison.costs === true && atMost === undefined;
  const ratios = ours.map((our, round) => (inverted ? theirs[round]! / our : our / theirs[round]!));
  const ratio = spreadOf(ratios);
  const reach = atLeast !== undefined ? `≥ ${atLeast} ×` : atMost !== undefined ? `≤ ${atMost} ×` : null;
  const reached =
    atLeast !== undefined ? ratio.median >= atLeast : atMost !== undefined ? ratio.median <= atMost : null;
  return {
    suite,
    work,
    against,
    reach,
    reached,
    ratio,
    ours: show(spreadOf(ours).median),
    theirs: show(spreadOf(theirs).median),
    rounds: ratios.length,
  };
}

export const inNanoseconds = (value: number): string => `${value.toFixed(0)} ns`;
export const inMicroseconds = (value: number): string => `${value.toFixed(0)} µs`;
export const inMilliseconds = (value: number): string => `${value.toFixed(value < 10 ? 2 : 0)} ms`;
export const perSecond = (value: number): string => `${value.toFixed(0)} /s`;
