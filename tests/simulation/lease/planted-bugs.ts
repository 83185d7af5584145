import { instant, type Instant } from "../../../src/infrastructure/locking/lease/protocol/lease-environment";
import { LeaseClient } from "../../../src/infrastructure/locking/lease/lease-client";
import { LeasePermits } from "../../../src/infrastructure/locking/lease/lease-permits";
import type { StoredLeaseRecord } from "../../../src/infrastructure/locking/lease/protocol/lease-record";
import {
  recordVersion,
  type ReadLeaseRecord,
} from "../../../src/infrastructure/locking/lease/protocol/lease-record-store";
import {
  RecordMemory,
  type Sighting,
} from "../../../src/infrastructure/locking/lease/protocol/record-memory";
import type { LeaseTenure } from "../../../src/infrastructure/locking/lease/tenure/lease-tenure";
import { TenureRequests } from "../../../src/infrastructure/locking/lease/tenure/tenure-requests";
import { wellBuilt, type Build } from "./participant";
import { ageless, calm, rough, skewed, stormy, type Profile } from "./profile";

/** A mistake that somebody could make, and the weather in which the simulation has to find it. */
export interface PlantedBug {
  readonly name: string;
  readonly profile: Profile;
  readonly build: Build;
  /** Of a world of semaphores: the numbers that its processes count them with. */
  readonly permits?: readonly [number, ...number[]];
  /** What the referee says when it finds it. */
  readonly symptom: RegExp;
  /** Of a bug that shows seldom, a world in which it shows soon; at full size, it is looked for from the first one on. */
  readonly seed?: number;
}

/** The obvious id: host and process. */
const idPerProcess: PlantedBug = {
  name: "id per process",
  profile: skewed,
  build: { ...wellBuilt, nonce: () => "same" },
  symptom: /while .* was inside|after/,
};

/** The obvious release. */
const deleteOnRelease: PlantedBug = {
  name: "delete on release",
  profile: skewed,
  build: {
    ...wellBuilt,
    store: (network) => ({
      read: (id) => network.read(id),
      ageMs: (id, version) => network.ageMs(id, version),
      remove: (id, ifVersion) => network.remove(id, ifVersion),
      write: async (id, record, ifVersion) => {
        if (record.ownerId !== null || ifVersion === "absent") return network.write(id, record, ifVersion);
        await network.remove(id, ifVersion);
        return recordVersion("removed");
      },
    }),
  },
  symptom: /got fence/,
};

class WallClockMemory extends RecordMemory {
  constructor(
    settings: LeaseClient["settings"],
    private readonly wallMs: () => number,
  ) {
    super(settings);
  }

  override saw(id: string, read: ReadLeaseRecord, receivedMs: number): Sighting {
    const sighting = super.saw(id, read, receivedMs);
    const ownerSinceMs = (read.record.expiresAt ?? 0) * 1000 < this.wallMs() ? -Infinity : receivedMs;
    return { ...sighting, isAgeUnknown: false, silence: { ...sighting.silence, ownerSinceMs } };
  }
}

/** What `expiresAt` seems to be there for. */
const wallClockExpiry: PlantedBug = {
  name: "wall-clock expiry",
  profile: skewed,
  build: {
    ...wellBuilt,
    client: (store, options) =>
      new (class extends LeaseClient {
        protected override remember(settings: LeaseClient["settings"]): RecordMemory {
          return new WallClockMemory(settings, () => options.environment?.clock.wallMs() ?? 0);
        }
      })(store, options),
  },
  symptom: /while .* was inside/,
};

class CountsFromDiscovery extends TenureRequests {
  override claimedNotBefore(record: StoredLeaseRecord): Instant | undefined {
    return record.ownerId === this.ownerId ? instant(this.surroundings.clock) : undefined;
  }
}

/** The record names us now, so the lease begins now. */
const leaseFromDiscovery: PlantedBug = {
  name: "lease counted from the discovering read",
  profile: stormy,
  build: {
    ...wellBuilt,
    client: (store, options) =>
      new (class extends LeaseClient {
        protected override requests(resourceId: string, ownerId: string): TenureRequests {
          return new CountsFromDiscovery(resourceId, ownerId, this.surroundings);
        }
      })(store, options),
  },
  symptom: /while .* was inside|somebody else before its lease ended/,
};

/** Each call begins to watch anew. */
const forgettingObservers: PlantedBug = {
  name: "forgetting observers",
  profile: ageless,
  seed: 11,
  build: {
    ...wellBuilt,
    client: (store, options) =>
      new (class extends LeaseClient {
        protected override requests(resourceId: string, ownerId: string): TenureRequests {
          const memory = new RecordMemory(this.settings);
          return new TenureRequests(resourceId, ownerId, { ...this.surroundings, memory });
        }
      })(store, options),
  },
  symptom: /stayed with the dead/,
};

class LeavesOnce extends TenureRequests {
  override isTakenForDead(): boolean {
    return true;
  }
}

/** Leaving is one try; whoever fails was unlucky. */
const oneShotLeaving: PlantedBug = {
  name: "one-shot leaving",
  profile: rough,
  build: {
    ...wellBuilt,
    client: (store, options) =>
      new (class extends LeaseClient {
        protected override requests(resourceId: string, ownerId: string): TenureRequests {
          return new LeavesOnce(resourceId, ownerId, this.surroundings);
        }
      })(store, options),
  },
  symptom: /whose process has departed/,
};

class Impatient extends TenureRequests {
  override async read(): Promise<Sighting | null> {
    const seen = await super.read();
    if (seen?.record.ownerId !== null) return seen;
    return { ...seen, record: { ...seen.record, waitingOwnerId: null, waiterExpiresAt: null } };
  }
}

/** What is free is anybody's. */
const overtakes: PlantedBug = {
  name: "newcomer takes over a registered waiter",
  profile: skewed,
  build: {
    ...wellBuilt,
    client: (store, options) =>
      new (class extends LeaseClient {
        protected override requests(resourceId: string, ownerId: string): TenureRequests {
          return new Impatient(resourceId, ownerId, this.surroundings);
        }
      })(store, options),
  },
  symptom: /who waited before it/,
};

/** Each process is sure of its own number. */
const numberPerProcess: PlantedBug = {
  name: "number of permits per process",
  profile: calm,
  permits: [2, 3],
  build: {
    ...wellBuilt,
    client: (store, options) =>
      new (class extends LeaseClient {
        override readonly permits = new (class extends LeasePermits {
          private readonly own = new Map<string, number>();

          override read(id: string): Promise<number | null> {
            return Promise.resolve(this.own.get(id) ?? null);
          }

          override replace(id: string, _from: number | null, to: number): Promise<boolean> {
            this.own.set(id, to);
            return Promise.resolve(true);
          }
        })((recordId) => this.requests(recordId, "nobody"));
      })(store, options),
  },
  symptom: /counted 2 permits|counted 3 permits/,
};

/** It was agreed upon, so it is agreed upon. */
const rememberedNumber: PlantedBug = {
  name: "number of permits that is asked for once",
  profile: calm,
  permits: [2, 3],
  build: {
    ...wellBuilt,
    client: (store, options) =>
      new (class extends LeaseClient {
        override readonly permits = new (class extends LeasePermits {
          private readonly known = new Map<string, number>();

          override async read(id: string): Promise<number | null> {
            const found = this.known.get(id) ?? (await super.read(id));
            if (found !== null) this.known.set(id, found);
            return found;
          }

          override async replace(...change: Parameters<LeasePermits["replace"]>): Promise<boolean> {
            const isChanged = await super.replace(...change);
            if (isChanged) this.known.set(change[0], change[2]);
            return isChanged;
          }
        })((recordId) => this.requests(recordId, "nobody"));
      })(store, options),
  },
  symptom: /counted 2 permits|counted 3 permits/,
};

/** Whose section has ended needs its lock no more. */
const forgottenMinimum: PlantedBug = {
  name: "minimum hold that ends with its section",
  profile: calm,
  build: {
    ...wellBuilt,
    client: (store, options) =>
      new (class extends LeaseClient {
        override leave(tenure: LeaseTenure): Promise<void> {
          return this.release(tenure);
        }
      })(store, options),
  },
  symptom: /was to keep/,
};

export const plantedBugs: readonly PlantedBug[] = [
  idPerProcess,
  deleteOnRelease,
  wallClockExpiry,
  leaseFromDiscovery,
  forgettingObservers,
  oneShotLeaving,
  overtakes,
  numberPerProcess,
  rememberedNumber,
  forgottenMinimum,
];
