import { waitersIn } from "../../../src/infrastructure/locking/lease/protocol/lease-line";
import type { StoredLeaseRecord } from "../../../src/infrastructure/locking/lease/protocol/lease-record";
import {
  TransientLeaseStoreError,
  type LeaseRecordStore,
  type ReadLeaseRecord,
  type RecordVersion,
} from "../../../src/infrastructure/locking/lease/protocol/lease-record-store";
import type { Machine } from "./machine";
import type { Profile } from "./profile";
import type { SeededRandom } from "./seeded-random";
import type { World } from "./world";

/** Longer than the protocol waits for an answer (5 s), so that it has long moved on when the request arrives. */
const LATEST_ARRIVAL_MS = 60_000;
const REPEATED_AFTER_MS = 20_000;
const LATEST_ANSWER_MS = 20_000;

export type Fate =
  | "delivered"
  | "dropped"
  | "answer lost"
  | "late"
  | "doubled"
  | "refused"
  | "refused, yet applied"
  | "answered late"
  | "throttled";

/** One process's way to the record store, with everything that can happen on it. */
export class Network implements LeaseRecordStore {
  /** How many were sent. */
  writes = 0;
  private cutUntilMs = 0;
  private lastCutMs = -Infinity;
  /** When a request met anything but being delivered. */
  private readonly mishaps: number[] = [];

  constructor(
    private readonly world: World,
    private readonly machine: Machine,
    private readonly store: LeaseRecordStore,
    private readonly profile: () => Profile,
    private readonly random: SeededRandom,
    private readonly lastWriteMs: Map<string, number>,
  ) {}

  read(id: string): Promise<ReadLeaseRecord | null> {
    return this.send(`read ${id}`, () => this.store.read(id));
  }

  ageMs(id: string, version: RecordVersion): Promise<number | null> {
    const { age } = this.profile();
    return this.send(`age ${id}`, async () => {
      const ageMs = await this.store.ageMs(id, version);
      if (ageMs === null || age === "exact") return ageMs;
      return age === "unknown" ? 0 : Math.max(0, Math.floor(ageMs / 1000) * 1000 - 1000);
    });
  }

  write(
    id: string,
    record: StoredLeaseRecord,
    ifVersion: RecordVersion | "absent",
  ): Promise<RecordVersion | "conflict"> {
    const what = `write ${id} if ${ifVersion}: ${brief(record)}`;
    return this.send(what, () => this.store.write(id, record, ifVersion), id);
  }

  remove(id: string, ifVersion: RecordVersion): Promise<void> {
    return this.send(`remove ${id} if ${ifVersion}`, () => this.store.remove(id, ifVersion), id);
  }

  cut(durationMs: number): void {
    this.world.note(this.machine.name, `is cut off for ${Math.round(durationMs)} ms`);
    this.cutUntilMs = this.world.nowMs + durationMs;
    this.lastCutMs = this.cutUntilMs;
  }

  heal(): void {
    this.cutUntilMs = 0;
  }

  wasCutSince(sinceMs: number): boolean {
    return this.lastCutMs >= sinceMs;
  }

  mishapsSince(sinceMs: number): number {
    return this.mishaps.filter((atMs) => atMs >= sinceMs).length;
  }

  private send<T>(what: string, carryOut: () => Promise<T>, writesTo?: string): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const { world, machine } = this;
      const fate = this.fateOf(writesTo);
      const thereMs = this.latency();
      const backMs = this.latency();
      world.note(machine.name, `-> ${what}${fate === "delivered" ? "" : ` [${fate}]`}`);
      if (writesTo !== undefined) this.writes += 1;
      // Who reads knows what became of it, and has no reason to lose anything.
      if (fate !== "delivered" && fate !== "answered late") this.noteMishap();

      const answer = (value: T): void => {
        machine.at(world.nowMs + backMs, () => {
          world.note(machine.name, `<- ${what.split(":")[0]}: ${briefAnswer(value)}`);
          resolve(value);
        });
      };
      const fail = (error: Error): void => void machine.at(world.nowMs + backMs, () => reject(error));
      const apply = (then?: (value: T) => void, arrivalMs = thereMs): void => {
        world.in(arrivalMs, () => void carryOut().then(then, then === undefined ? () => undefined : fail));
      };
      switch (fate) {
        case "delivered":
          return apply(answer);
        case "dropped":
          return;
        case "answer lost":
          return apply();
        case "answered late":
          return apply((value) =>
            world.in(this.random.between(6_000, LATEST_ANSWER_MS), () => answer(value)),
          );
        case "late":
          return apply(answer, this.random.between(0, LATEST_ARRIVAL_MS));
        case "doubled": {
          const secondMs = thereMs + this.random.between(0, REPEATED_AFTER_MS);
          const hearsTheSecond = this.random.chance(0.5);
          apply(hearsTheSecond ? undefined : answer);
          return apply(hearsTheSecond ? answer : undefined, secondMs);
        }
        case "refused, yet applied":
          return apply(() => fail(new TransientLeaseStoreError("503")));
        case "refused":
          return void world.in(thereMs, () => fail(new TransientLeaseStoreError("503")));
        case "throttled":
          return void world.in(thereMs, () => fail(new TransientLeaseStoreError("429", { throttled: true })));
      }
    });
  }

  private fateOf(writesTo: string | undefined): Fate {
    const { world, random } = this;
    const profile = this.profile();
    if (this.cutUntilMs > world.nowMs) return random.chance(0.5) ? "dropped" : "answer lost";
    if (writesTo !== undefined && profile.throttled > 0) {
      const sinceLastMs = world.nowMs - (this.lastWriteMs.get(writesTo) ?? -Infinity);
      if (sinceLastMs < 1_000 && random.chance(1 / 3)) return "throttled";
      this.lastWriteMs.set(writesTo, world.nowMs);
    }
    let luck = random.next();
    const happens = (probability: number): boolean => (luck -= probability) < 0;
    if (happens(profile.dropped)) return "dropped";
    if (happens(profile.answerLost)) return "answer lost";
    if (happens(profile.late)) return "late";
    if (happens(profile.doubled)) return "doubled";
    if (happens(profile.refused)) return random.chance(0.5) ? "refused" : "refused, yet applied";
    if (writesTo !== undefined && happens(profile.answeredLate)) return "answered late";
    if (writesTo !== undefined && happens(profile.throttled)) return "throttled";
    return "delivered";
  }

  private latency(): number {
    return this.random.chance(0.05) ? this.random.between(50, MAX_LATENCY_MS) : this.random.between(1, 50);
  }

  private noteMishap(): void {
    this.mishaps.push(this.world.nowMs);
    if (this.mishaps.length > 200) this.mishaps.splice(0, 100);
  }
}

/** One way. */
export const MAX_LATENCY_MS = 400;

function brief(record: StoredLeaseRecord): string {
  const fence = "fence" in record ? `, fence ${record.fence}/${record.renewSeq}` : "";
  const behind = waitersIn(record).slice(1);
  const line = behind.length === 0 ? "" : `, behind it ${behind.join(" ")}`;
  return `owner ${record.ownerId ?? "-"}, waiter ${record.waitingOwnerId ?? "-"}${line}${fence}`;
}

function briefAnswer(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  const { record, version } = value as ReadLeaseRecord;
  return `${version}, ${brief(record)}`;
}
