/**
 * CPU time of this process in nanoseconds, per piece of work: for work that waits for nobody. What the neighbours on the
 * machine do does not count, what the collector does for us does.
 */
export async function cpuNanoseconds(pieces: number, work: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return ((user + system) * 1_000) / pieces;
}

/** Elapsed microseconds per piece of work: for work that waits for a disk or somebody else's answer. */
export async function elapsedMicroseconds(pieces: number, work: () => Promise<unknown>): Promise<number> {
  const before = performance.now();
  await work();
  return ((performance.now() - before) * 1_000) / pieces;
}
