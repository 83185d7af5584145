import { slotName } from "../../../application/locking/slots";
import { LockPermitsError } from "../../../application/ports/lock-errors";
import type { Attempt, AttemptRequest, LockBackend, Refusal, Semaphore, Tenure } from "../lock-backend";
import type { AgreedPermits } from "./agreed-permits";
import { agree, type Objection } from "./agree";
import { isHeld, slotTenure } from "./slot-tenure";

/**
 * Of the slots that a waiter has no particular reason to look at: after a pause, and after a release that it heard of. After
 * eight pauses it has looked at all, however many there are.
 */
const LOOKED_AT = { afterAPause: (permits: number) => Math.max(8, Math.ceil(permits / 8)), afterANotice: 2 };
/**
 * A caller that has a slot only to find out that it counts otherwise is gone at the next look. Whoever is still there, by the
 * same acquisition, is a holder.
 */
const LOOKS_AT_A_HOLDER = 3;

/** Any lock backend lends semaphores, if its processes can agree on a number: each slot is a lock of its own. */
export function slotsOver(backend: LockBackend, agreed: AgreedPermits, semaphore: Semaphore): LockBackend {
  return new SlotSearch(backend, agreed, semaphore);
}

/**
 * How often one attempt looks again, where it has changed the number of permits, has met another process that does, or
 * has waited for a release of this process's own.
 */
const ROUNDS = 4;
const again = { kind: "again" } as const;

/**
 * One process's search for a free slot of one semaphore. It asks for one slot after the other, so it never has more than
 * the one that it keeps. The first look is at all of them; then it waits for a slot to be released, and goes round. Where
 * a backend has places in line, it stands in line for one slot, and only looks at the others: that one comes to it.
 */
class SlotSearch implements LockBackend {
  readonly adapter: string;
  /** Of this process, from the attempt that got it to the end of its release. */
  private readonly held = new Set<number>();
  /** Those of them that are being given back. */
  private readonly endings = new Map<number, Promise<void>>();
  private readonly wakes = new Set<() => void>();
  /** Heard to be released since the last attempt. */
  private readonly heardOf = new Set<number>();
  /** Where it stands in line. */
  private home: number | undefined;
  private isWaiting = false;
  private next: number;
  /** Who kept it from changing the number, and how often in a row. */
  private objector: { readonly who: string; readonly times: number } | undefined;

  constructor(
    private readonly backend: LockBackend,
    private readonly agreed: AgreedPermits,
    private readonly semaphore: Semaphore,
  ) {
    this.adapter = backend.adapter;
    this.next = Math.floor(semaphore.random() * semaphore.permits);
  }

  async attempt(_resourceId: string, request: AttemptRequest): Promise<Attempt> {
    for (let round = 1; round <= ROUNDS; round += 1) {
      const answer = await this.search(request);
      if (answer.kind !== "again") return answer;
    }
    return { kind: "held" };
  }

  onReleased(_resourceId: string, wake: () => void): () => void {
    this.wakes.add(wake);
    const stops = this.allSlots().map((slot) =>
      this.backend.onReleased?.(slotName(this.semaphore.resourceId, slot), () => {
        if (this.held.has(slot)) return;
        this.heardOf.add(slot);
        wake();
      }),
    );
    return () => {
      this.wakes.delete(wake);
      for (const stop of stops) stop?.();
    };
  }

  leave(): void {
    this.isWaiting = false;
    this.leaveHome();
  }

  /** The backend is its provider's to close. */
  async close(): Promise<void> {}

  private async search(request: AttemptRequest): Promise<Attempt | typeof again> {
    const isFirst = !this.isWaiting || !request.mayWait;
    const slots = this.slotsToAsk(isFirst);
    const refusals: Refused[] = [];
    for (const slot of slots) {
      const answer = await this.ask(slot, request, slot === this.home);
      if (answer.kind === "acquired") return this.enter(slot, answer.tenure, request);
      refusals.push(answer);
    }
    const [home] = slots;
    // All of them have holders: who counts them differently is to be told so all the same.
    if (isFirst && home !== undefined && !(await this.isAgreed(null, null, request))) return again;
    if (home !== undefined && this.home === undefined && request.mayWait && this.hasLines) {
      this.home = home;
      const answer = await this.ask(home, request, true);
      if (answer.kind === "acquired") return this.enter(home, answer.tenure, request);
      refusals.push(answer);
    }
    // Not before it has seen all: what fails on the way is begun anew.
    this.isWaiting = request.mayWait;
    if (request.mayWait || this.endings.size === 0) return refusedBy(refusals);
    // Who does not wait for holders waits for a release of ours, as at a lock.
    await Promise.race(this.endings.values());
    return again;
  }

  private async enter(
    slot: number,
    tenure: Tenure,
    request: AttemptRequest,
  ): Promise<Attempt | typeof again> {
    // Got there, it stands in line no more.
    if (this.home === slot) this.home = undefined;
    if (!(await this.isAgreed(slot, tenure, request))) return again;
    this.isWaiting = false;
    this.leaveHome();
    const onEnding = (ending: Promise<void>): void => {
      const free = (): void => this.freed(slot);
      this.endings.set(slot, ending.then(free, free));
    };
    return { kind: "acquired", tenure: slotTenure(this.semaphore.resourceId, slot, tenure, onEnding) };
  }

  private freed(slot: number): void {
    this.held.delete(slot);
    this.endings.delete(slot);
    this.heardOf.add(slot);
    for (const wake of this.wakes) wake();
  }

  private get hasLines(): boolean {
    return this.backend.leave !== undefined;
  }

  private allSlots(): number[] {
    return Array.from({ length: this.semaphore.permits }, (_, index) => index + 1);
  }

  /** In the order in which to ask, without those that this process has. */
  private slotsToAsk(all: boolean): readonly number[] {
    const { permits } = this.semaphore;
    const round = this.allSlots().map((_, index) => ((this.next + index) % permits) + 1);
    const first = [...this.heardOf, ...(this.home === undefined ? [] : [this.home])];
    const some = this.heardOf.size > 0 ? LOOKED_AT.afterANotice : LOOKED_AT.afterAPause(permits);
    this.heardOf.clear();
    const others = all ? round : round.slice(0, some);
    this.next = (this.next + others.length) % permits;
    return [...new Set([...first, ...others])].filter((slot) => !this.held.has(slot));
  }

  private ask(slot: number, request: AttemptRequest, inLine: boolean): Promise<Attempt> {
    const mayWait = request.mayWait && (inLine || !this.hasLines);
    return this.backend.attempt(slotName(this.semaphore.resourceId, slot), { ...request, mayWait });
  }

  /** Asked behind the slot that was taken, if one was, and that is given back where the answer is not yes. */
  private async isAgreed(
    slot: number | null,
    tenure: Tenure | null,
    request: AttemptRequest,
  ): Promise<boolean> {
    const { backend, agreed, semaphore } = this;
    const { permits } = semaphore;
    const giveBack = async (): Promise<void> => {
      await tenure?.release();
      if (slot !== null) this.held.delete(slot);
    };
    if (slot !== null) this.held.add(slot);
    try {
      const found = await this.agreedNumber(tenure);
      const isSaid = found === permits || (found === null && tenure === null);
      if (isSaid && (tenure === null || isHeld(tenure))) return true;
    } catch (error) {
      void giveBack();
      throw error;
    }
    await giveBack();
    this.heed(await agree({ backend, agreed, semaphore, request }));
    return false;
  }

  private heed(objection: Objection | null): void {
    const who = JSON.stringify(objection);
    const times = objection === null ? 0 : this.objector?.who === who ? this.objector.times + 1 : 1;
    this.objector = { who, times };
    if (objection === null || times < LOOKS_AT_A_HOLDER) return;
    const { resourceId, permits } = this.semaphore;
    throw new LockPermitsError(resourceId, permits, objection.agreed, objection.holder);
  }

  /** Where none was ever written, the first to have a slot says how many there are; null for those who have none. */
  private async agreedNumber(tenure: Tenure | null): Promise<number | null> {
    const { resourceId, permits } = this.semaphore;
    const found = await this.agreed.read(resourceId);
    if (found !== null || tenure === null) return found;
    const isWritten = await this.agreed.replace(resourceId, null, permits, () => isHeld(tenure));
    return isWritten ? permits : this.agreed.read(resourceId);
  }

  private leaveHome(): void {
    if (this.home !== undefined) this.backend.leave?.(slotName(this.semaphore.resourceId, this.home));
    this.home = undefined;
  }
}

type Refused = Exclude<Attempt, { kind: "acquired" }>;

/** One of those inside stands for all of them; the first slot that may come free says when to look again. */
function refusedBy(refusals: readonly Refused[]): Attempt {
  const withHolder = refusals.find(({ holder }) => holder !== undefined);
  const turns = refusals.flatMap(({ turnMs = Infinity }) => turnMs);
  const turnMs = Math.min(...turns);
  const refusal: Refusal = {
    ...(withHolder?.holder !== undefined && { holder: withHolder.holder }),
    ...(turnMs < Infinity && { turnMs }),
  };
  const advice = withHolder?.kind === "held" ? withHolder.advice : undefined;
  return { kind: "held", ...refusal, ...(advice !== undefined && { advice }) };
}
