import { RequestError } from "../../problems/request-error";

/** Each costs a connection, a page of events at most, and a look at the store each second. */
const MOST = 256;
/** So that one merchant's do not keep the others out. */
const MOST_OF_ONE_MERCHANT = 32;

/** Who waits here for events: long polls and streams. Bounded, because they stay. */
export class WaitingReaders {
  private readonly counts = new Map<string, number>();
  private total = 0;

  constructor(private readonly limits = { all: MOST, ofOneMerchant: MOST_OF_ONE_MERCHANT }) {}

  async with<T>(merchant: string, work: () => Promise<T>): Promise<T> {
    const leave = this.enter(merchant);
    try {
      return await work();
    } finally {
      leave();
    }
  }

  /** Returns how to leave, which may be called more than once. */
  enter(merchant: string): () => void {
    const own = this.counts.get(merchant) ?? 0;
    if (this.total >= this.limits.all || own >= this.limits.ofOneMerchant) {
      throw new RequestError(
        "too_many_readers",
        "As many readers as may wait for events are waiting already: close one of yours, or ask again without waiting.",
      );
    }
    this.total += 1;
    this.counts.set(merchant, own + 1);
    let isInside = true;
    return () => {
      if (!isInside) return;
      isInside = false;
      this.total -= 1;
      const left = (this.counts.get(merchant) ?? 0) - 1;
      if (left > 0) this.counts.set(merchant, left);
      else this.counts.delete(merchant);
    };
  }
}
