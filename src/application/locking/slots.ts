/** As many as a fencing token has room for. */
export const MOST_PERMITS = 1_024;

/** How many may be inside at once; undefined for a lock. */
export function permitsOf({ permits }: { readonly permits?: number | undefined }): number | undefined {
  if (permits === undefined) return undefined;
  if (!(Number.isInteger(permits) && permits >= 1 && permits <= MOST_PERMITS))
    throw new RangeError(`permits is ${permits}: it takes a whole number from 1 to ${MOST_PERMITS}`);
  return permits;
}

/** The lock behind one slot of a semaphore, counted from 1. Who looks at locks from outside finds it under this name. */
export function slotName(resourceId: string, slot: number): string {
  return `${resourceId}#${slot}`;
}
