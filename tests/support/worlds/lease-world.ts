import type { LockHold, LockOptions } from "../../../src/application/ports/lock-provider";
import type { LeaseEnvironment } from "../../../src/infrastructure/locking/lease/protocol/lease-environment";
import { LeaseLockProvider } from "../../../src/infrastructure/locking/lease/lease-lock-provider";
import {
  parseLeaseRecord,
  type LeaseRecord,
  type StoredLeaseRecord,
} from "../../../src/infrastructure/locking/lease/protocol/lease-record";
import type { LeaseSettings } from "../../../src/infrastructure/locking/lease/protocol/lease-settings";
import { MemoryLeaseRecordStore } from "../../../src/infrastructure/locking/lease/memory/memory-lease-record-store";
import type { LockClock } from "../../../src/infrastructure/locking/lock-clock";
import { Gate, settled } from "../fakes/gate";
import { ScriptedLeaseStore } from "../fakes/scripted-lease-store";
import { VirtualLockClock } from "../fakes/virtual-lock-clock";

/** One process: its own provider, its own way to the store, its own idea of the time of day. */
export interface LeaseProcess {
  readonly locks: LeaseLockProvider;
  readonly store: ScriptedLeaseStore;
  /** Added to its wall clock. */
  wallSkewMs: number;
}

/** A caller that is inside until it is told to leave. */
export interface Occupant {
  readonly hold: LockHold;
  /** Resolves when `withLock` has answered. */
  leave(): Promise<void>;
}

/** Several processes over one record store, on virtual time. */
export class LeaseWorld {
  readonly clock = new VirtualLockClock();
  readonly records = new MemoryLeaseRecordStore(this.clock);
  private readonly processes: LeaseProcess[] = [];
  private nonces = 0;

  process(name: string, settings: Partial<LeaseSettings> = {}): LeaseProcess {
    const { clock } = this;
    const store = new ScriptedLeaseStore(this.records);
    const ownClock: LockClock = {
      monotonicMs: () => clock.monotonicMs(),
      wallMs: () => clock.wallMs() + process.wallSkewMs,
      after: (delayMs, callback) => clock.after(delayMs, callback),
    };
    const environment: LeaseEnvironment = {
      clock: ownClock,
      random: () => 0.5,
      nonce: () => `t${(this.nonces += 1)}`,
      host: name,
      pid: 1,
    };
    const locks = new LeaseLockProvider(store, { environment, lease: settings });
    const process: LeaseProcess = { locks, store, wallSkewMs: 0 };
    this.processes.push(process);
    return process;
  }

  /** Resolves when the caller is inside; time has to pass if somebody else is. */
  async occupy({ locks }: LeaseProcess, id: string, options: LockOptions = {}): Promise<Occupant> {
    const end = new Gate();
    let enter: (hold: LockHold) => void = () => undefined;
    const entered = new Promise<LockHold>((resolve) => (enter = resolve));
    const section = (hold: LockHold): Promise<void> => {
      enter(hold);
      return end.passed;
    };
    const ended = locks.withLock(id, section, options);
    const hold = await Promise.race([entered, ended.then(() => entered)]);
    const leave = (): Promise<void> => {
      end.open();
      return ended;
    };
    return { hold, leave };
  }

  stored(id: string): StoredLeaseRecord | undefined {
    const text = this.records.getText(id);
    return text === undefined ? undefined : parseLeaseRecord(text, id);
  }

  /** Lets somebody else change the record in between. */
  async amend(id: string, change: Partial<LeaseRecord>): Promise<void> {
    const seen = await this.records.read(id);
    if (seen === null) throw new Error(`${id} has no record`);
    await this.records.write(id, { ...seen.record, ...change } as LeaseRecord, seen.version);
  }

  /** Ends everything, with time enough for what cannot be confirmed. */
  async close(): Promise<void> {
    let isClosed = false;
    void Promise.all(this.processes.map(({ locks }) => locks.close())).then(() => (isClosed = true));
    for (let round = 0; round < 200 && !isClosed; round += 1) await this.clock.advance(1_000);
    await settled();
    if (!isClosed) throw new Error("not everything could be closed");
    if (this.clock.pendingTimers > 0) throw new Error(`${this.clock.pendingTimers} timers are left`);
  }
}

/** For `ScriptedLeaseStore.next`: what can become of a request. */
export const fate = {
  applied: {
    /** It was carried out, and nobody hears of it. */
    silently: (carryOut: () => Promise<unknown>): Promise<unknown> => {
      void carryOut();
      return new Promise(() => undefined);
    },
    /** It was carried out twice: the second time it finds the first. */
    twice: async (carryOut: () => Promise<unknown>): Promise<unknown> => {
      await carryOut();
      return carryOut();
    },
  },
  lost: (): Promise<unknown> => new Promise(() => undefined),
  failed: (error: Error) => (): Promise<unknown> => Promise.reject(error),
};
