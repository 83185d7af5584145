import type { Referee } from "./referee";

interface Account {
  highestFence: bigint;
  value: number;
}

/** Something worth locking: a counter that checks the fence of whoever reads or writes it. */
export class Ledger {
  refused = 0;
  private readonly accounts = new Map<string, Account>();

  constructor(private readonly referee: Referee) {}

  /** The value, or undefined for a caller that has been overtaken. */
  read(id: string, fence: bigint): number | undefined {
    return this.admit(id, fence)?.value;
  }

  write(id: string, fence: bigint, value: number): boolean {
    const account = this.admit(id, fence);
    if (account === undefined) return false;
    if (value !== account.value + 1)
      this.referee.broken(`${id}: ${value} was written over ${account.value}: an update was lost`);
    account.value = value;
    return true;
  }

  private admit(id: string, fence: bigint): Account | undefined {
    const account = this.accounts.get(id) ?? { highestFence: 0n, value: 0 };
    this.accounts.set(id, account);
    if (fence < account.highestFence) {
      this.refused += 1;
      return undefined;
    }
    account.highestFence = fence;
    return account;
  }
}
