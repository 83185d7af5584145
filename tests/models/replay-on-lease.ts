import type { LockHold } from "../../src/application/ports/lock-provider";
import { LeaseLockProvider } from "../../src/infrastructure/locking/lease/lease-lock-provider";
import { MemoryLeaseRecordStore } from "../../src/infrastructure/locking/lease/memory/memory-lease-record-store";
import type { StoredLeaseRecord } from "../../src/infrastructure/locking/lease/protocol/lease-record";
import {
  TransientLeaseStoreError,
  type LeaseRecordStore,
  type ReadLeaseRecord,
  type RecordVersion,
} from "../../src/infrastructure/locking/lease/protocol/lease-record-store";
import { Gate, settled } from "../support/fakes/gate";
import { VirtualLockClock } from "../support/fakes/virtual-lock-clock";
import { leaseOf, TICK_MS } from "./lease-in-promela";

const ID = "task:modelled";
const PROCESSES = 3;
const TURNS = 20;

export interface Replayed {
  /** How many are sure of their lock in the end. */
  readonly inside: number;
  /** Whether each claim that was applied had a greater fence than those before it. */
  readonly fencesRise: boolean;
}

/**
 * Lets the real lease do what a trace of the model says, one step after the other: who looks, whose write is applied, who hears
 * of it. What is under way then comes to its end. Where the lease does not do a step, it goes on in its own way.
 */
export async function replayOnLease(
  trace: readonly string[],
  { blindClaims }: { readonly blindClaims: boolean },
): Promise<Replayed> {
  const clock = new VirtualLockClock();
  const service = new SteppedService(new MemoryLeaseRecordStore(clock), blindClaims);
  const processes = Array.from({ length: PROCESSES }, (_, at) => new SteppedProcess(at, service, clock));
  for (const step of trace) {
    const [who, does] = step.split(" ") as [string, string];
    if (step === "time passes") await clock.advance(TICK_MS);
    const process = processes[Number(who)];
    if (does === "looks") process?.look();
    if (does === "lands") service.apply(Number(who));
    if (does === "hears") process?.line.answer();
    if (does === "gives") process?.line.fail();
    await everythingElse();
  }
  for (const { line } of processes) {
    service.apply(line.of);
    line.answer();
  }
  await everythingElse();
  const inside = processes.filter(({ isSure }) => isSure).length;
  const { fences } = service;
  const fencesRise = fences.every((fence, at) => at === 0 || fence > fences[at - 1]!);
  service.isFree = true;
  await Promise.all(processes.map((process) => process.end()));
  return { inside, fencesRise };
}

/** What needs no time. */
async function everythingElse(): Promise<void> {
  for (let turn = 0; turn < TURNS; turn += 1) await settled();
}

type Applied = RecordVersion | "conflict";

/** The requests of one process: each write waits until the trace applies it, and its answer until the trace lets it be heard. */
class Line {
  private waiting: (() => Promise<Applied>) | undefined;
  private hear: ((answer: Applied) => void) | undefined;
  private refuse: ((error: Error) => void) | undefined;
  private applied: Promise<Applied> | undefined;

  constructor(readonly of: number) {}

  send(write: () => Promise<Applied>): Promise<Applied> {
    this.waiting = write;
    this.applied = undefined;
    return new Promise((hear, refuse) => {
      this.hear = hear;
      this.refuse = refuse;
    });
  }

  apply(): void {
    this.applied ??= this.waiting?.();
    this.waiting = undefined;
  }

  answer(): void {
    const { hear } = this;
    if (hear !== undefined) void this.applied?.then(hear);
  }

  fail(): void {
    this.refuse?.(new TransientLeaseStoreError("no answer"));
  }
}

class SteppedService {
  readonly fences: number[] = [];
  /** Requests are answered as they come. */
  isFree = false;
  private readonly lines = Array.from({ length: PROCESSES }, (_, of) => new Line(of));

  constructor(
    private readonly records: MemoryLeaseRecordStore,
    private readonly blindClaims: boolean,
  ) {}

  line(of: number): Line {
    return this.lines[of]!;
  }

  apply(of: number): void {
    this.line(of).apply();
  }

  of(process: number): LeaseRecordStore {
    const { records } = this;
    return {
      read: (id): Promise<ReadLeaseRecord | null> => records.read(id),
      ageMs: (id, version) => records.ageMs(id, version),
      remove: (id, ifVersion) => records.remove(id, ifVersion),
      write: (id, record, ifVersion) => {
        const write = () => this.put(id, record, ifVersion);
        return this.isFree ? write() : this.line(process).send(write);
      },
    };
  }

  private async put(
    id: string,
    record: StoredLeaseRecord,
    ifVersion: RecordVersion | "absent",
  ): Promise<Applied> {
    const found = await this.records.read(id);
    const isClaim = record.ownerId !== null && record.ownerId !== found?.record.ownerId;
    const expected = this.blindClaims && isClaim ? (found?.version ?? "absent") : ifVersion;
    const answer = await this.records.write(id, record, expected);
    if (answer !== "conflict" && isClaim && record.ttlMs !== undefined) this.fences.push(record.fence);
    return answer;
  }
}

class SteppedProcess {
  readonly line: Line;
  private readonly locks: LeaseLockProvider;
  private readonly over = new Gate();
  private section: Promise<unknown> | undefined;
  private hold: LockHold | undefined;

  constructor(
    at: number,
    service: SteppedService,
    private readonly clock: VirtualLockClock,
  ) {
    this.line = service.line(at);
    let nonces = 0;
    const environment = {
      clock,
      random: () => 0.5,
      nonce: () => `n${(nonces += 1)}`,
      host: `process ${at}`,
      pid: at + 1,
    };
    const { ttlMs, yieldMs } = leaseOf(1);
    this.locks = new LeaseLockProvider(service.of(at), { lease: { ttlMs, yieldMs }, environment });
  }

  get isSure(): boolean {
    try {
      this.hold?.assertHeld();
      return this.hold !== undefined;
    } catch {
      return false;
    }
  }

  look(): void {
    this.section ??= this.locks
      .withLock(
        ID,
        async (hold) => {
          this.hold = hold;
          await this.over.passed;
        },
        { timeout: "infinite" },
      )
      .catch(() => undefined);
  }

  async end(): Promise<void> {
    this.over.open();
    let isClosed = false;
    const closed = this.locks.close().then(() => (isClosed = true));
    for (let seconds = 0; !isClosed && seconds < 60; seconds += 1) await this.clock.advance(1_000);
    await closed;
    await this.section;
    await settled();
  }
}
