/** Less than this is one moment to a reader. */
const UNIT_MS = 20;

/**
 * Where the moments of a payment are between 0 and 1. A capture takes milliseconds and may come a week after its
 * authorization: gaps count by their logarithm, so that both can be seen, in their order.
 */
export function timeScale(moments: readonly Date[]): (at: Date) => number {
  const sorted = [...new Set(moments.map((at) => at.getTime()))].sort((a, b) => a - b);
  const places = new Map<number, number>();
  let place = 0;
  for (const [index, ms] of sorted.entries()) {
    const before = sorted[index - 1];
    if (before !== undefined) place += Math.log2(2 + (ms - before) / UNIT_MS);
    places.set(ms, place);
  }
  return (at) => (place === 0 ? 0 : (places.get(at.getTime()) ?? 0) / place);
}
