import { MOST_PERMITS } from "../../../application/locking/slots";
import { UsageError } from "../exit-status";

/** How many commands may run under one task at a time; undefined where one may, under the task's lock itself. */
export function parseSlots(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const slots = /^\d{1,4}$/.test(text) ? Number(text) : NaN;
  if (!(slots >= 1 && slots <= MOST_PERMITS))
    throw new UsageError(`--slots is "${text}": it takes a whole number from 1 to ${MOST_PERMITS}`);
  return slots;
}
