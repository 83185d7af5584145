import { slotName } from "../../../src/application/locking/slots";
import { LockError, LockLostError, LockPermitsError } from "../../../src/application/ports/lock-errors";
import type { LockHold, LockProvider } from "../../../src/application/ports/lock-provider";
import { HandoffLease } from "../../../src/infrastructure/locking/lease/handoff-lease";
import { LeaseClient, type LeaseClientOptions } from "../../../src/infrastructure/locking/lease/lease-client";
import { LeaseLockBackend } from "../../../src/infrastructure/locking/lease/lease-lock-backend";
import type { LeaseRecordStore } from "../../../src/infrastructure/locking/lease/protocol/lease-record-store";
import {
  TenureRequests,
  type LeaseSurroundings,
} from "../../../src/infrastructure/locking/lease/tenure/tenure-requests";
import { LinedLockProvider } from "../../../src/infrastructure/locking/line/lined-lock-provider";
import type { Ledger } from "./ledger";
import type { Machine } from "./machine";
import { MAX_LATENCY_MS, type Network } from "./network";
import type { Insider, Referee } from "./referee";
import type { SeededRandom } from "./seeded-random";

/** Where a planted bug takes the place of the real thing. */
export interface Build {
  client(store: LeaseRecordStore, options: LeaseClientOptions, referee: Referee): LeaseClient;
  store(network: Network): LeaseRecordStore;
  nonce(next: () => string): string;
}

/** The real thing, but that it says so when it gives up cleaning. */
export const wellBuilt: Build = {
  client: (store, options, referee) => new CandidClient(store, options, referee),
  store: (network) => network,
  nonce: (next) => next(),
};

class CandidRequests extends TenureRequests {
  constructor(
    resourceId: string,
    ownerId: string,
    surroundings: LeaseSurroundings,
    private readonly referee: Referee,
  ) {
    super(resourceId, ownerId, surroundings);
  }

  override isTakenForDead(triedSinceMs: number): boolean {
    const isTakenForDead = super.isTakenForDead(triedSinceMs);
    if (isTakenForDead) this.referee.gaveUpCleaning(this.ownerId);
    return isTakenForDead;
  }
}

class CandidClient extends LeaseClient {
  constructor(
    store: LeaseRecordStore,
    options: LeaseClientOptions,
    private readonly referee: Referee,
  ) {
    super(store, options);
  }

  protected override requests(resourceId: string, ownerId: string): TenureRequests {
    return new CandidRequests(resourceId, ownerId, this.surroundings, this.referee);
  }
}

export interface Setting {
  readonly machine: Machine;
  readonly network: Network;
  readonly random: SeededRandom;
  readonly referee: Referee;
  readonly ledger: Ledger;
  readonly resourceIds: readonly [string, ...string[]];
  /** Absent: they are locks. Processes may disagree about it. */
  readonly permits?: number | undefined;
  readonly build: Build;
  readonly nextNonce: () => string;
}

/** Enough to leave no trace in any weather: who departs in an orderly way must not be named any more. */
const TIME_TO_LEAVE_MS = 600_000;
/** Nobody waits for longer than that for what is bound to happen. */
const LONGEST_STANDSTILL_MS = 600_000;
/** Less than a lease: a record that is left for longer than that is that of a process which is gone. */
const LONGEST_KEPT_MS = 25_000;

/** A process that locks: several actors over one provider, as an application would have them. */
export class Participant {
  readonly machine: Machine;
  readonly network: Network;
  private readonly client: LeaseClient;
  private readonly provider: LockProvider & { close(): Promise<void> };
  private readonly stopping = new AbortController();
  private readonly actors: Promise<void>[] = [];
  private hasCrashed = false;

  constructor(private readonly setting: Setting) {
    const { machine, network, random, build, nextNonce } = setting;
    this.machine = machine;
    this.network = network;
    const { clock } = machine;
    const environment = {
      clock,
      random: () => random.next(),
      nonce: () => build.nonce(nextNonce),
      host: machine.name,
      pid: 1,
    };
    const settings = { closeMs: TIME_TO_LEAVE_MS };
    this.client = build.client(build.store(network), { environment, settings }, setting.referee);
    const backend = new LeaseLockBackend("simulated", this.client);
    this.provider = new LinedLockProvider(backend, { clock, random: environment.random });
  }

  /** Locks for a short while, again and again, with all kinds of patience. */
  startBorrower(): void {
    const { random, resourceIds } = this.setting;
    this.act(async () => {
      await this.machine.pause(random.until(8_000));
      const timeout = random.pick([0, 0, 400, 3_000, 15_000, 60_000, "infinite"] as const);
      await this.borrow(random.pick(resourceIds), timeout);
    });
  }

  /** Always wants this lock, so that a dead holder's is missed at once; the second kind never waits for long. */
  startRegular(id: string, patience: "endless" | "none"): void {
    this.act(async () => {
      await this.machine.pause(this.setting.random.between(100, 500));
      await this.borrow(id, patience === "endless" ? "infinite" : 0);
    });
  }

  /** Keeps a resource until it is asked for it. */
  startKeeper(): void {
    const { random, resourceIds } = this.setting;
    const id = random.pick(resourceIds);
    let isAsked = false;
    const lease = new HandoffLease(id, this.client);
    lease.onReleaseRequested(() => (isAsked = true));
    this.act(async () => {
      await this.machine.pause(random.until(8_000));
      const timeout = random.pick([0, 2_000, 20_000, 90_000] as const);
      const hold = await lease.acquire({ timeout, signal: this.stopping.signal });
      isAsked = false;
      const insider = this.enter(id, hold);
      const untilMs = this.machine.clock.monotonicMs() + random.between(0, 120_000);
      try {
        while (!isAsked && !this.isStopping && this.machine.clock.monotonicMs() < untilMs)
          await this.work(hold, insider);
      } finally {
        this.setting.referee.leave(insider);
        await lease.release();
      }
    });
  }

  /** Each resource once, and then all of its slots at once, however long it takes. */
  async takeAll(): Promise<void> {
    const { resourceIds, permits } = this.setting;
    for (const id of resourceIds) {
      await this.takeOne(id);
      if (permits !== undefined) await this.takeSlots(id, permits);
    }
  }

  crash(): void {
    this.hasCrashed = true;
    this.machine.crash();
    this.setting.referee.crashed(this.machine);
  }

  get isRunning(): boolean {
    return !this.hasCrashed && !this.isStopping;
  }

  /** Ends the actors, then everything they left behind. */
  async close(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.actors);
    await this.provider.close();
  }

  /** Whoever counted the slots in another way may be left in one of them for a while. */
  private async takeOne(id: string): Promise<void> {
    for (;;)
      try {
        return await this.provider.withLock(id, () => undefined, this.patiently);
      } catch (error) {
        if (!(error instanceof LockPermitsError)) throw error;
        await this.machine.pause(1_000);
      }
  }

  private async takeSlots(id: string, permits: number): Promise<void> {
    let inside = 0;
    await new Promise<void>((resolve, reject) => {
      const enter = (): Promise<void> => {
        if ((inside += 1) === permits) resolve();
        return allInside;
      };
      const allInside = new Promise<void>((letGo) => this.machine.later(LONGEST_STANDSTILL_MS, letGo));
      for (let n = 0; n < permits; n += 1) this.provider.withLock(id, enter, this.patiently).catch(reject);
    });
  }

  private get patiently() {
    const { permits } = this.setting;
    return { timeout: "infinite", ...(permits !== undefined && { permits }) } as const;
  }

  private get isStopping(): boolean {
    return this.stopping.signal.aborted;
  }

  private act(turn: () => Promise<void>): void {
    const actor = async (): Promise<void> => {
      while (!this.isStopping) {
        try {
          await turn();
        } catch (error) {
          if (error instanceof LockError) continue;
          this.setting.referee.broken(`${this.machine.name}: unexpected ${String(error)}`);
          return;
        }
      }
    };
    this.actors.push(actor());
  }

  private async borrow(id: string, timeout: number | "infinite"): Promise<void> {
    const { random, referee, permits } = this.setting;
    const lockAtLeastFor = random.chance(0.1) ? random.between(1_000, LONGEST_KEPT_MS) : 0;
    const rounds = random.chance(0.1) ? 30 : random.pick([1, 1, 2, 4]);
    const section = async (hold: LockHold): Promise<void> => {
      const insider = this.enter(id, hold);
      try {
        for (let round = 0; round < rounds; round += 1) await this.work(hold, insider);
      } finally {
        referee.leave(insider, lockAtLeastFor);
      }
    };
    await this.provider.withLock(id, section, {
      timeout,
      signal: this.stopping.signal,
      lockAtLeastFor,
      ...(permits !== undefined && { permits }),
    });
  }

  private enter(id: string, hold: LockHold): Insider {
    const { referee, permits } = this.setting;
    const who = `${this.machine.name}/${hold.fencingToken % 100_000n}`;
    const counted = permits === undefined ? undefined : { semaphore: id, permits };
    const name = hold.slot === undefined ? id : slotName(id, hold.slot);
    const insider = referee.enter(name, who, this.machine, hold, counted);
    const { signal } = hold;
    const onLost = (): void => referee.lost(insider, String(signal.reason), this.network);
    if (signal.aborted) onLost();
    else signal.addEventListener("abort", onLost, { once: true });
    return insider;
  }

  /**
   * One guarded step: look at the lock, read, think, write; each as far from the other as a network and a stall make it.
   * Who is careless does not look, and has nothing but the fence between a stale write and the ledger.
   */
  private async work(hold: LockHold, insider: Insider): Promise<void> {
    const { random, ledger } = this.setting;
    const isCareless = random.chance(0.3);
    await this.machine.pause(random.between(10, 2_000));
    if (!isCareless) this.assertHeld(hold, insider);
    const value = await this.remotely(() => ledger.read(insider.id, insider.fence));
    if (value === undefined) throw new LockLostError(insider.id, "the ledger refused its fence");
    await this.machine.pause(random.between(10, 300));
    if (!isCareless) this.assertHeld(hold, insider);
    const written = await this.remotely(() => ledger.write(insider.id, insider.fence, value + 1));
    if (!written) throw new LockLostError(insider.id, "the ledger refused its fence");
  }

  private assertHeld(hold: LockHold, insider: Insider): void {
    try {
      hold.assertHeld();
    } catch (error) {
      if (!hold.signal.aborted)
        this.setting.referee.broken(`${insider.who} was told by assertHeld and not by its signal`);
      throw error;
    }
    this.setting.referee.passed(insider);
  }

  private remotely<T>(step: () => T): Promise<T> {
    const { machine, random } = this.setting;
    return new Promise((resolve) => {
      machine.later(random.between(1, MAX_LATENCY_MS), () => {
        const result = step();
        machine.at(machine.trueNowMs + random.between(1, MAX_LATENCY_MS), () => resolve(result));
      });
    });
  }
}
