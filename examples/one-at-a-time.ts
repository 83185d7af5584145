// Ten clerks add to one number that takes a while to read and to write. With a lock around both, none is lost.
// In your own code the import reads: from "holdfast/locks".
import { MemoryLockProvider, LockTimeoutError, withLocks } from "../src/locks";

const pause = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

class Ledger {
  private readonly balances = new Map<string, number>();

  async read(account: string): Promise<number> {
    await pause();
    return this.balances.get(account) ?? 0;
  }

  async write(account: string, balance: number): Promise<void> {
    await pause();
    this.balances.set(account, balance);
  }
}

async function main(): Promise<void> {
  const locks = new MemoryLockProvider();
  const ledger = new Ledger();

  const deposit = (account: string, amount: number): Promise<void> =>
    locks.withLock(`account:${account}`, async () => {
      await ledger.write(account, (await ledger.read(account)) + amount);
    });
  await Promise.all(Array.from({ length: 10 }, () => deposit("alice", 10)));
  console.log(`ten deposits of 10: ${await ledger.read("alice")}`);

  // Several locks at once: the order in which they are named does not matter, so no two transfers can deadlock.
  const transfer = (from: string, to: string, amount: number): Promise<void> =>
    withLocks(locks, [`account:${from}`, `account:${to}`], async () => {
      await ledger.write(from, (await ledger.read(from)) - amount);
      await ledger.write(to, (await ledger.read(to)) + amount);
    });
  await Promise.all([transfer("alice", "bob", 30), transfer("bob", "alice", 10)]);
  console.log(`after two transfers: ${await ledger.read("alice")} and ${await ledger.read("bob")}`);

  // A wait has a bound, and says whom it waited for.
  let closeTheBooks = (): void => {};
  const audit = new Promise<void>((resolve) => (closeTheBooks = resolve));
  const auditor = locks.withLock("account:alice", () => audit, { purpose: "audit" });
  await pause();
  try {
    await locks.withLock("account:alice", async () => {}, { timeout: 0 });
  } catch (error) {
    if (!(error instanceof LockTimeoutError)) throw error;
    console.log(`refused while ${error.holder?.purpose ?? "somebody"} is inside: ${error.code}`);
  }
  closeTheBooks();
  await auditor;
}

void main();
