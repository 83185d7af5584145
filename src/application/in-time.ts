/** The result of the work, or of `late` after the limit. The work is not cancelled. */
export async function inTime<T, Late>(
  limitMs: number,
  work: Promise<T>,
  late: () => Late,
): Promise<T | Late> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<Late>((resolve) => {
    timer = setTimeout(() => resolve(late()), limitMs);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
