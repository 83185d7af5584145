import type { BreakAudit } from "../../../../src/application/ports/lock-inspector";
import { LockUnavailableError } from "../../../../src/application/ports/lock-errors";
import { LeaseLockInspector } from "../../../../src/infrastructure/locking/lease/lease-lock-inspector";
import {
  parseLeaseRecord,
  type LeaseRecord,
} from "../../../../src/infrastructure/locking/lease/protocol/lease-record";
import { MemoryLeaseRecordStore } from "../../../../src/infrastructure/locking/lease/memory/memory-lease-record-store";
import { VirtualLockClock } from "../../../support/fakes/virtual-lock-clock";

const DAY_MS = 86_400_000;
const TTL_MS = 30_000;

/** Records that a test puts there, and an inspector that looks at them on virtual time. */
class World {
  readonly clock = new VirtualLockClock();
  readonly ids = new Set<string>();
  readonly audits: BreakAudit[] = [];
  /** What happens between the inspector's read and its write. */
  meanwhile: () => void = () => {};
  readonly records = new (class extends MemoryLeaseRecordStore {
    constructor(
      clock: VirtualLockClock,
      private readonly ids: ReadonlySet<string>,
    ) {
      super(clock);
    }

    async *resourceIds(): AsyncGenerator<string> {
      for (const id of this.ids) if (this.getText(id) !== undefined) yield id;
    }
  })(this.clock, this.ids);
  readonly inspector = new LeaseLockInspector({
    records: this.records,
    where: (id) => `memory ${id}`,
    now: () => new Date(this.clock.wallMs()),
    audit: async (line) => {
      this.audits.push(line);
      this.meanwhile();
    },
  });

  put(id: string, change: Partial<LeaseRecord> = {}): void {
    const nowSeconds = this.clock.wallMs() / 1_000;
    const record: LeaseRecord = {
      ownerId: "web-2:4711:a",
      expiresAt: nowSeconds + TTL_MS / 1_000,
      waitingOwnerId: null,
      waiterExpiresAt: null,
      ttlMs: TTL_MS,
      renewSeq: 1,
      fence: 17,
      ownerAgeMs: 0,
      holder: { host: "web-2", pid: 4711, operation: "deploy", since: nowSeconds },
      ...change,
    };
    this.putText(id, JSON.stringify(record));
  }

  putText(id: string, text: string): void {
    this.ids.add(id);
    this.records.putText(id, text);
  }

  record(id: string) {
    return parseLeaseRecord(this.records.getText(id) ?? "", id);
  }
}

const FREE = { ownerId: null, expiresAt: 0, holder: null } as const;
const foreign = (ownerId: string | null, expiresAt: number) =>
  JSON.stringify({ ownerId, expiresAt, waitingOwnerId: null, waiterExpiresAt: null });

let world: World;
beforeEach(() => {
  world = new World();
});

describe("looking", () => {
  test("looking tells who holds, for what, until when, with which token, and who waits", async () => {
    world.put("task:nightly", { waitingOwnerId: "web-3:99:b" });
    expect(await world.inspector.show("task:nightly")).toEqual({
      resourceId: "task:nightly",
      state: "held",
      where: "memory task:nightly",
      holder: {
        ownerId: "web-2:4711:a",
        host: "web-2",
        pid: 4711,
        purpose: "deploy",
        since: new Date(world.clock.wallMs()),
      },
      waitingOwnerId: "web-3:99:b",
      expiresAt: new Date(world.clock.wallMs() + TTL_MS),
      fencingToken: 17n,
    });
  });

  test("looking calls a lease abandoned only when it has ended by the store's clock, whoever wrote the record last", async () => {
    world.put("young");
    world.put("watched", { ownerAgeMs: 40_000 });
    expect((await world.inspector.list()).map(({ state }) => state)).toEqual(["abandoned", "held"]);
    await world.clock.advance(TTL_MS);
    expect((await world.inspector.show("young"))?.state).toBe("held");
    await world.clock.advance(TTL_MS);
    expect((await world.inspector.show("young"))?.state).toBe("abandoned");
  });

  test("looking lists all there are by their ids, free ones too, and finds no trace of others", async () => {
    world.put("b", FREE);
    world.put("a");
    expect((await world.inspector.list()).map(({ resourceId, state }) => [resourceId, state])).toEqual([
      ["a", "held"],
      ["b", "free"],
    ]);
    expect(await world.inspector.show("c")).toBeNull();
  });

  test("looking calls unknown what is no record, and what another implementation holds", async () => {
    world.putText("a", "no record");
    world.putText("b", foreign("somebody", 1));
    world.putText("c", foreign(null, 0));
    const found = await world.inspector.list();
    expect(found.map(({ state }) => state)).toEqual(["unknown", "unknown", "free"]);
    expect(found[0]?.remark).toContain("not a lease record");
    expect(found[1]).toMatchObject({
      holder: { ownerId: "somebody" },
      remark: "written by another implementation",
    });
  });

  test("looking changes nothing", async () => {
    world.put("a");
    world.putText("b", "no record");
    const before = ["a", "b"].map((id) => world.records.getText(id));
    await world.inspector.list();
    expect(["a", "b"].map((id) => world.records.getText(id))).toEqual(before);
  });
});

describe("breaking", () => {
  test("breaking takes the lock from the holder that is named: the fence and the waiter stay, and a line is left", async () => {
    world.put("a", { waitingOwnerId: "web-3:99:b", waiterExpiresAt: 5 });
    const outcome = await world.inspector.break("a", "web-2:4711:a");
    expect(outcome).toEqual({ outcome: "broken", audit: world.audits[0] });
    expect(world.audits).toMatchObject([
      { action: "break", resourceId: "a", ownerId: "web-2:4711:a", by: { pid: process.pid } },
    ]);
    expect(world.record("a")).toMatchObject({ ...FREE, fence: 17, waitingOwnerId: "web-3:99:b" });
  });

  test("breaking changes nothing if another holds it by now, or nobody", async () => {
    world.put("a");
    world.put("b", FREE);
    expect(await world.inspector.break("a", "web-2:4711:z")).toMatchObject({
      outcome: "held_by_another",
      lock: { holder: { ownerId: "web-2:4711:a" } },
    });
    expect(await world.inspector.break("b", "web-2:4711:a")).toEqual({ outcome: "not_held" });
    expect(await world.inspector.break("c", "web-2:4711:a")).toEqual({ outcome: "not_held" });
    expect(world.audits).toEqual([]);
    expect(world.record("a")).toMatchObject({ ownerId: "web-2:4711:a" });
  });

  test("breaking loses against a change in the same instant", async () => {
    world.put("a");
    world.meanwhile = () => world.put("a", { ownerId: "web-9:1:new", renewSeq: 2 });
    expect(await world.inspector.break("a", "web-2:4711:a")).toEqual({ outcome: "busy" });
    expect(world.record("a")).toMatchObject({ ownerId: "web-9:1:new" });
  });

  test("breaking frees another implementation's record in its own form, and refuses what is no record", async () => {
    world.putText("a", foreign("somebody", 1));
    expect(await world.inspector.break("a", "somebody")).toMatchObject({ outcome: "broken" });
    expect(world.record("a")).toEqual({
      ownerId: null,
      expiresAt: 0,
      waitingOwnerId: null,
      waiterExpiresAt: null,
    });
    world.putText("b", "no record");
    await expect(world.inspector.break("b", "somebody")).rejects.toThrow(LockUnavailableError);
    expect(world.records.getText("b")).toBe("no record");
  });
});

describe("sweeping", () => {
  test("sweeping removes what nobody has held or wanted for that long, and nothing else", async () => {
    world.put("old", FREE);
    world.put("old and held");
    world.put("old and wanted", { ...FREE, waitingOwnerId: "web-3:99:b" });
    world.putText("old and unreadable", "no record");
    world.put("semaphore#permits", { ...FREE, permits: 2 });
    await world.clock.advance(DAY_MS - 1);
    expect(await world.inspector.sweep(DAY_MS)).toEqual([]);
    world.put("young", FREE);
    await world.clock.advance(1);
    expect(await world.inspector.sweep(DAY_MS)).toEqual(["old"]);
    expect([...world.ids].filter((id) => world.records.getText(id) !== undefined)).toEqual([
      "old and held",
      "old and wanted",
      "old and unreadable",
      "semaphore#permits",
      "young",
    ]);
  });
});
