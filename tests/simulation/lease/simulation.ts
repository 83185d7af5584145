import type { StoredLeaseRecord } from "../../../src/infrastructure/locking/lease/protocol/lease-record";
import type { LeaseRecordStore } from "../../../src/infrastructure/locking/lease/protocol/lease-record-store";
import { leaseSettings } from "../../../src/infrastructure/locking/lease/protocol/lease-settings";
import { MemoryLeaseRecordStore } from "../../../src/infrastructure/locking/lease/memory/memory-lease-record-store";
import { Ledger } from "./ledger";
import { Machine } from "./machine";
import { Network } from "./network";
import { Participant, wellBuilt, type Build } from "./participant";
import { calm, type Profile } from "./profile";
import { Referee } from "./referee";
import { SeededRandom } from "./seeded-random";
import { TakeoverWatch } from "./takeover-watch";
import { TurnWatch } from "./turn-watch";
import { World } from "./world";

export interface SimulationRequest {
  readonly seed: number;
  readonly profile: Profile;
  /** The schedule ends when so many have been inside. */
  readonly acquisitions: number;
  readonly build?: Build;
  /** What the ids are semaphores with, as the processes count: each draws one of these. Absent: they are locks. */
  readonly permits?: readonly [number, ...number[]];
}

export interface SimulationResult {
  readonly acquisitions: number;
  readonly losses: number;
  readonly takeovers: number;
  readonly longestTakeoverMs: number;
  readonly refusedWrites: number;
  /** Requests to change the record. */
  readonly writes: number;
  readonly virtualMs: number;
  readonly fingerprint: number;
  /** What went wrong first, with the history around it. */
  readonly failure?: string;
}

const PROCESSES = 4;
/** More than any wait or hold of an actor, a lease and the longest run of bad luck together. */
const LONGEST_STANDSTILL_MS = 600_000;

/** One world from one seed: processes come, lock, stall and die, until enough has happened and all come to rest. */
export class Simulation {
  private readonly world = new World();
  private readonly random: SeededRandom;
  private readonly settings = leaseSettings();
  private readonly referee: Referee;
  private readonly watch: TakeoverWatch;
  private readonly turns: TurnWatch;
  private readonly ledger: Ledger;
  private readonly truth: MemoryLeaseRecordStore;
  private readonly store: LeaseRecordStore;
  private readonly lastWriteMs = new Map<string, number>();
  private readonly resourceIds: [string, ...string[]];
  private readonly participants = new Set<Participant>();
  private readonly networks: Network[] = [];
  private profile: Profile;
  private processes = 0;
  private nonces = 0;
  private isEnding = false;

  constructor(private readonly request: SimulationRequest) {
    this.random = new SeededRandom(request.seed);
    this.profile = request.profile;
    const { dropped, answeredLate, stallEveryMs } = request.profile;
    const isSmooth = dropped === 0 && answeredLate === 0;
    this.referee = new Referee(this.world, this.settings.ttlMs, isSmooth && stallEveryMs === Infinity);
    this.ledger = new Ledger(this.referee);
    const tellsExactAges = request.profile.age === "exact";
    this.watch = new TakeoverWatch(this.world, this.referee, this.settings, tellsExactAges);
    this.turns = new TurnWatch(
      this.world,
      this.referee,
      this.settings,
      isSmooth && (tellsExactAges ? "always" : "after a release"),
      (ownerId) => this.watch.isDead(ownerId),
    );
    this.resourceIds = this.random.chance(0.5) ? ["a"] : ["a", "b"];
    this.truth = new MemoryLeaseRecordStore(this.trueClock);
    this.store = this.watched(this.truth);
  }

  async run(): Promise<SimulationResult> {
    this.startRegulars();
    for (let index = 1; index < PROCESSES; index += 1) this.startProcess();
    while (this.referee.violation === undefined && this.referee.acquisitions < this.request.acquisitions) {
      const { acquisitions } = this.referee;
      await this.runUntil(() => this.referee.acquisitions > acquisitions, "nobody got in any more");
    }
    if (this.referee.violation === undefined) await this.comeToRest();
    const { violation } = this.referee;
    return {
      acquisitions: this.referee.acquisitions,
      losses: this.referee.losses,
      takeovers: this.referee.takeovers,
      longestTakeoverMs: this.watch.longestMs,
      refusedWrites: this.ledger.refused,
      writes: this.networks.reduce((sum, { writes }) => sum + writes, 0),
      virtualMs: this.world.nowMs,
      fingerprint: this.world.fingerprint,
      ...(violation !== undefined && { failure: `${violation.message}\n${this.world.history()}` }),
    };
  }

  /** Lives through everything but its own death, and always wants a lock. */
  private startRegulars(): void {
    const participant = this.boot();
    const patience = this.random.pick(["endless", "none"] as const);
    for (const id of this.resourceIds) participant.startRegular(id, patience);
    this.planMishaps(participant);
  }

  private startProcess(): void {
    const participant = this.boot();
    participant.startBorrower();
    if (this.random.chance(0.5)) participant.startBorrower();
    // Long ownership is of locks alone.
    const keepers = this.request.permits === undefined ? [0.6, 0.3] : [];
    for (const chance of keepers) if (this.random.chance(chance)) participant.startKeeper();
    this.planMishaps(participant);
    this.planEnd(participant);
  }

  private boot(): Participant {
    const { world, random, referee, ledger, resourceIds, profile } = this;
    const machine = new Machine(`p${(this.processes += 1)}`, world, {
      rate: 1 + random.between(-profile.drift, profile.drift),
      wallSkewMs: Math.round(random.between(-profile.wallSkewMs, profile.wallSkewMs)),
    });
    const network = new Network(
      world,
      machine,
      this.store,
      () => this.profile,
      random.fork(),
      this.lastWriteMs,
    );
    this.networks.push(network);
    const { permits } = this.request;
    const participant = new Participant({
      permits: permits && random.pick(permits),
      machine,
      network,
      random: random.fork(),
      referee,
      ledger,
      resourceIds,
      build: this.request.build ?? wellBuilt,
      nextNonce: () => `t${(this.nonces += 1)}`,
    });
    this.participants.add(participant);
    return participant;
  }

  private planMishaps(participant: Participant): void {
    const { random, profile } = this;
    const { machine, network } = participant;
    this.repeatedly(profile.stallEveryMs, participant, () => {
      if (!machine.isStill) machine.stall(random.between(100, profile.longestStallMs), random.chance(0.3));
    });
    this.repeatedly(profile.cutEveryMs, participant, () =>
      network.cut(random.between(100, profile.longestCutMs)),
    );
  }

  private planEnd(participant: Participant): void {
    const { random, profile, world } = this;
    const crashInMs = random.until(1) * profile.crashEveryMs;
    const closeInMs = random.until(1) * profile.closeEveryMs;
    const endInMs = Math.min(crashInMs, closeInMs);
    if (endInMs === Infinity) return;
    world.in(endInMs, () => {
      if (this.isEnding) return;
      if (crashInMs < closeInMs) this.crash(participant);
      else void this.close(participant);
      world.in(random.between(0, 20_000), () => {
        if (!this.isEnding) this.startProcess();
      });
    });
  }

  private repeatedly(meanMs: number, participant: Participant, mishap: () => void): void {
    if (meanMs === Infinity) return;
    this.world.in(this.random.until(meanMs), () => {
      if (this.isEnding || !participant.isRunning) return;
      mishap();
      this.repeatedly(meanMs, participant, mishap);
    });
  }

  private crash(participant: Participant): void {
    this.participants.delete(participant);
    participant.crash();
    this.watch.crashed(participant.machine);
  }

  private async close(participant: Participant): Promise<void> {
    const { machine } = participant;
    await participant.close();
    this.participants.delete(participant);
    this.referee.departed(machine);
    for (const id of this.resourceIds) {
      const seen = await this.truth.read(id);
      if (seen !== null) this.referee.stored(id, seen.record);
    }
    machine.isAlive = false;
  }

  /** The weather clears, everybody goes home, and whatever is left behind can be taken. */
  private async comeToRest(): Promise<void> {
    const { world } = this;
    this.isEnding = true;
    this.profile = { ...calm, age: this.request.profile.age };
    world.note("--", "the weather clears");
    for (const { network } of this.participants) network.heal();
    let atRest = false;
    void Promise.all([...this.participants].map((participant) => this.close(participant))).then(
      () => (atRest = true),
    );
    await this.runUntil(() => atRest, "not everybody came to rest");
    let taken = false;
    const heir = this.boot();
    void heir.takeAll().then(() => (taken = true));
    await this.runUntil(() => taken, "what was left behind could not be taken");
  }

  private async runUntil(isDone: () => boolean, otherwise: string): Promise<void> {
    const endMs = this.world.nowMs + LONGEST_STANDSTILL_MS;
    await this.world.run(() => isDone() || this.referee.violation !== undefined || this.world.nowMs > endMs);
    if (!isDone() && this.referee.violation === undefined) this.referee.broken(otherwise);
  }

  private readonly trueClock = {
    monotonicMs: () => this.world.nowMs,
    wallMs: () => Date.UTC(2026, 10, 18) + Math.floor(this.world.nowMs),
    after: (delayMs: number, callback: () => void) => this.world.in(delayMs, callback),
  };

  private watched(store: MemoryLeaseRecordStore): LeaseRecordStore {
    const onStored = (id: string, record: StoredLeaseRecord): void => {
      this.referee.stored(id, record);
      this.turns.stored(id, record);
      // Of several slots, nobody waits for a certain one.
      const isWaitedFor = this.request.profile.dropped === 0 && this.request.permits === undefined;
      if (isWaitedFor && !this.isEnding) this.watch.stored(id, record);
    };
    return {
      read: (id) => store.read(id),
      ageMs: (id, version) => store.ageMs(id, version),
      remove: (id, ifVersion) => store.remove(id, ifVersion),
      write: async (id, record, ifVersion) => {
        const answer = await store.write(id, record, ifVersion);
        if (answer !== "conflict") onStored(id, record);
        return answer;
      },
    };
  }
}
