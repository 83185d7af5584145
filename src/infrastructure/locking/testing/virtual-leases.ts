import { LeaseLockProvider, type LeaseLockOptions } from "../lease/lease-lock-provider";
import { MemoryLeaseRecordStore } from "../lease/memory/memory-lease-record-store";
import { VirtualLockClock } from "./virtual-lock-clock";

/** What a process may be given: everything but what is virtual. */
export type VirtualProcessOptions = Omit<LeaseLockOptions, "environment" | "clock" | "random">;

/** More than a lease and all that follows it, with the settings that anybody uses. */
const LONGEST_CLOSE_S = 600;

/**
 * Several processes on one record store in memory, on virtual time: the protocol that production runs, for tests of work
 * that holds such a lock. Nothing happens by itself but what needs no time; `clock.advance` lets it pass, and
 * `clock.stall` lets it pass while nothing runs.
 *
 * Excludes: the processes that it has made, which all are this one.
 * Survives: nothing.
 * Not for: production.
 */
export class VirtualLeases {
  readonly clock = new VirtualLockClock();
  readonly records = new MemoryLeaseRecordStore(this.clock);
  private readonly processes: LeaseLockProvider[] = [];
  private nonces = 0;

  /** One more process, as far as locks are concerned; `host` is what others are told about its holds. */
  process(host: string, options: VirtualProcessOptions = {}): LeaseLockProvider {
    const environment = {
      clock: this.clock,
      // The same schedule each time: with two processes there is nothing to spread.
      random: () => 0.5,
      nonce: () => `n${(this.nonces += 1)}`,
      host,
      pid: this.processes.length + 1,
    };
    const locks = new LeaseLockProvider(this.records, { adapter: "virtual-lease", ...options, environment });
    this.processes.push(locks);
    return locks;
  }

  /** Ends all processes, as their own `close` does, and lets the time pass that this takes. */
  async close(): Promise<void> {
    const closed = Promise.all(this.processes.map((locks) => locks.close())).then(() => true);
    for (let second = 0; second < LONGEST_CLOSE_S; second += 1) {
      await this.clock.advance(1_000);
      if (await Promise.race([closed, Promise.resolve(false)])) return;
    }
    throw new Error("the leases could not be closed: one of them is longer than this waits");
  }
}
