import { slotName } from "../../../application/locking/slots";
import type { LockHolder } from "../../../application/ports/lock-provider";
import type { AttemptRequest, LockBackend, Semaphore, Tenure } from "../lock-backend";
import type { AgreedPermits } from "./agreed-permits";
import { isHeld } from "./slot-tenure";

export interface Disagreement {
  readonly backend: LockBackend;
  readonly agreed: AgreedPermits;
  readonly semaphore: Semaphore;
  readonly request: AttemptRequest;
}

/** A slot that somebody has who counts otherwise, or who is about to find out that they do. */
export interface Objection {
  readonly slot: number;
  /** The number that is in use. */
  readonly agreed: number;
  readonly holder: LockHolder | undefined;
}

/**
 * Makes this caller's number the agreed one, if no holder is inside: it then gets all slots of the number before, and has
 * them for as long as it writes. Otherwise it resolves with the first slot that it did not get. One process at a time does
 * so, behind slot 0, which nobody else takes: others who want the same change come back, and find it made.
 */
export async function agree({
  backend,
  agreed,
  semaphore,
  request,
}: Disagreement): Promise<Objection | null> {
  const { resourceId, permits } = semaphore;
  const single = { ...request, mayWait: false };
  const taken: Tenure[] = [];
  const take = async (slot: number) => {
    const answer = await backend.attempt(slotName(resourceId, slot), single);
    if (answer.kind === "acquired") taken.push(answer.tenure);
    return answer;
  };
  try {
    if ((await take(0)).kind !== "acquired") return null;
    const found = await agreed.read(resourceId);
    if (found === permits) return null;
    for (let slot = 1; slot <= (found ?? 0); slot += 1) {
      const answer = await take(slot);
      if (answer.kind !== "acquired") return { slot, agreed: found ?? 0, holder: answer.holder };
    }
    await agreed.replace(resourceId, found, permits, () => taken.every(isHeld));
    return null;
  } finally {
    await Promise.all(taken.map((tenure) => tenure.release()));
  }
}
