import { LockTimeoutError } from "../../../src/application/ports/lock-errors";
import { SnapshotStoreError } from "../../../src/application/ports/snapshot-store";
import { sandboxResourceId } from "../../../src/application/sandboxes/sandbox-ids";
import { parseMerchantId } from "../../../src/domain/identifiers";
import { Gate, settled } from "../../support/fakes/gate";
import {
  authorize,
  capture,
  merchant,
  newSandbox,
  references,
  SandboxInstances,
  silence,
  unknownId,
  type SandboxInstance,
} from "../../support/worlds/sandbox-instances";

let instances: SandboxInstances;
let a: SandboxInstance;
let b: SandboxInstance;
let c: SandboxInstance;

beforeEach(() => {
  instances = new SandboxInstances();
  a = instances.instance("a");
  b = instances.instance("b");
  c = instances.instance("c");
});

afterEach(() => instances.close());

const down = () => Promise.reject(new SnapshotStoreError("down"));
const types = ({ events }: SandboxInstance) => events.map(({ type }) => type);

/** A request that is inside until the gate opens. */
function busy({ sandboxes }: SandboxInstance, id: Parameters<typeof references>[1]) {
  const [inside, leave] = [new Gate(), new Gate()];
  const answered = sandboxes.use(id, merchant, async () => {
    inside.open();
    await leave.passed;
    return "done";
  });
  answered.catch(() => undefined);
  return { inside: inside.passed, leave, answered };
}

describe("a sandbox goes from one instance to another", () => {
  test("a sandbox goes from one instance to another with everything that was acknowledged, and its owner's handler is called once", async () => {
    const id = await newSandbox(a);
    await authorize(a, id, "one");
    await authorize(a, id, "two");
    await instances.passing(b.sandboxes.attach(id, merchant));
    expect(await references(b, id)).toEqual(["one", "two"]);
    expect(a.timesAsked).toBe(1);
    expect(types(a)).toEqual(["checkpointed", "created", "checkpointed", "handed_over"]);
    expect(types(b)).toEqual(["attached"]);
    expect(a.owned.size).toBe(0);
    await expect(references(a, id)).rejects.toMatchObject({
      code: "sandbox_elsewhere",
      facts: { ownerUrl: b.url },
    });
  });

  test("back and forth twenty times, and nothing is forgotten on the way", async () => {
    const id = await newSandbox(a);
    const expected: string[] = [];
    for (let turn = 0; turn < 20; turn += 1) {
      const here = turn % 2 === 0 ? a : b;
      if (turn > 0) await instances.passing(here.sandboxes.attach(id, merchant));
      expected.push(`turn-${turn}`);
      const paymentId = await authorize(here, id, `turn-${turn}`);
      await capture(here, id, paymentId, "k");
    }
    expect(await references(b, id)).toEqual(expected);
    const fences = [...a.events, ...b.events]
      .filter(({ type }) => type === "attached")
      .map(({ fence }) => fence);
    expect(new Set(fences).size).toBe(19);
  });

  test("a sandbox goes from one instance to another after its requests under way are answered; those that come meanwhile wait, and are told where it is", async () => {
    const id = await newSandbox(a);
    const first = busy(a, id);
    await first.inside;
    const attached = b.sandboxes.attach(id, merchant);
    await instances.pass(2_500);
    const late = references(a, id);
    late.catch(() => undefined);
    await instances.pass(500);
    expect(a.owned.size).toBe(1);
    first.leave.open();
    expect(await first.answered).toBe("done");
    await instances.passing(attached);
    await expect(instances.passing(late)).rejects.toMatchObject({ code: "sandbox_elsewhere" });
  });

  test("a sandbox goes from one instance to another also when a request hangs: it is not answered as done, and what it did after the last checkpoint is not there", async () => {
    const id = await newSandbox(a);
    await authorize(a, id, "before");
    const hanging = busy(a, id);
    await hanging.inside;
    await instances.passing(b.sandboxes.attach(id, merchant));
    expect(await references(b, id)).toEqual(["before"]);
    hanging.leave.open();
    await expect(hanging.answered).rejects.toMatchObject({ code: "sandbox_lost" });
  });

  test.each(["succeeds", "fails"] as const)(
    "a request that ends while the last checkpoint is being written is answered by its outcome, when it %s",
    async (how) => {
      const id = await newSandbox(a);
      await authorize(a, id, "before");
      const hanging = busy(a, id);
      await hanging.inside;
      const upload = new Gate();
      a.store.next("putSnapshot", async (carryOut) => {
        await upload.passed;
        return how === "succeeds" ? carryOut() : down();
      });
      const attached = b.sandboxes.attach(id, merchant);
      attached.catch(() => undefined);
      await instances.pass(12_000);
      const heard: string[] = [];
      const told = hanging.answered.then(
        (answer) => void heard.push(answer),
        (error: { code: string }) => void heard.push(error.code),
      );
      hanging.leave.open();
      await settled();
      const heardBefore = [...heard];
      upload.open();
      await instances.passing(told);
      const outcome = await instances.passing(attached).then(
        () => "attached",
        (error: { code: string }) => error.code,
      );
      expect(heardBefore).toEqual([]);
      expect(heard).toEqual([how === "succeeds" ? "sandbox_lost" : "done"]);
      expect(outcome).toBe(how === "succeeds" ? "attached" : "lock_timeout");
    },
  );

  test("a sandbox goes from one instance to another not while another waits for it: a third is told at once, by attach and by request", async () => {
    const id = await newSandbox(a);
    const first = busy(a, id);
    await first.inside;
    const attached = b.sandboxes.attach(id, merchant);
    await instances.pass(1_000);
    await expect(c.sandboxes.attach(id, merchant)).rejects.toMatchObject({ code: "sandbox_contended" });
    await expect(references(c, id)).rejects.toMatchObject({
      code: "sandbox_elsewhere",
      facts: { ownerUrl: a.url },
    });
    first.leave.open();
    await instances.passing(attached);
    expect(a.timesAsked).toBe(1);
    expect(c.owned.size).toBe(0);
  });

  test("a sandbox goes from one instance to another never because a request came", async () => {
    const id = await newSandbox(a);
    await expect(references(b, id)).rejects.toMatchObject({ code: "sandbox_elsewhere" });
    await instances.pass(30_000);
    expect(a.timesAsked).toBe(0);
    expect(await references(a, id)).toEqual([]);
  });

  test("right after it arrived, if somebody asked while it was being restored", async () => {
    const id = await newSandbox(a);
    const reading = new Gate();
    b.store.next("readSnapshot", async (carryOut) => {
      await reading.passed;
      return carryOut();
    });
    const first = b.sandboxes.attach(id, merchant);
    await instances.pass(4_000);
    const second = c.sandboxes.attach(id, merchant);
    await instances.pass(2_500);
    reading.open();
    await first;
    await instances.passing(second);
    expect(await references(c, id)).toEqual([]);
    expect(b.timesAsked).toBe(1);
  });
});

describe("the owner keeps it and serves on", () => {
  test("the owner keeps it and serves on when the last checkpoint of a hand-off fails; the waiter times out, and who waited here is served", async () => {
    const id = await newSandbox(a);
    await authorize(a, id, "unsaved");
    a.store.next("putSnapshot", async () => {
      await settled();
      throw new SnapshotStoreError("down");
    });
    const attached = b.sandboxes.attach(id, merchant);
    attached.catch(() => undefined);
    await instances.pass(2_100);
    expect(await references(a, id)).toEqual(["unsaved"]);
    await expect(instances.passing(attached)).rejects.toBeInstanceOf(LockTimeoutError);
    expect(types(a)).toEqual(["checkpointed", "created", "kept"]);
    expect(b.owned.size).toBe(0);
    // A later waiter gets it.
    await instances.passing(c.sandboxes.attach(id, merchant));
    expect(await references(c, id)).toEqual(["unsaved"]);
  });

  test("the owner keeps it and serves on when it cannot be deleted, and then gives it to whoever asked meanwhile", async () => {
    const id = await newSandbox(a);
    const gate = new Gate();
    a.store.next("removeSandbox", async () => {
      await gate.passed;
      return down();
    });
    const deleted = a.sandboxes.delete(id, merchant);
    deleted.catch(() => undefined);
    const attached = b.sandboxes.attach(id, merchant);
    await instances.pass(3_000);
    gate.open();
    await expect(deleted).rejects.toMatchObject({ code: "snapshot_store_unavailable" });
    await instances.passing(attached);
    expect(await references(b, id)).toEqual([]);
  });
});

describe("the lock is released on every path", () => {
  const held = (id: Parameters<typeof references>[1]) =>
    instances.leases.stored(sandboxResourceId(id))?.ownerId ?? null;

  test.each(["readManifest", "writeManifest", "readSnapshot"] as const)(
    "an attach whose %s fails",
    async (request) => {
      const id = await newSandbox(a);
      await instances.passing(a.sandboxes.detach(id));
      // The first reading of the manifest is before the lock.
      if (request === "readManifest") b.store.next(request, (carryOut) => carryOut());
      b.store.next(request, down);
      await expect(instances.passing(b.sandboxes.attach(id, merchant))).rejects.toMatchObject({
        code: "snapshot_store_unavailable",
      });
      expect(held(id)).toBeNull();
      expect(await references(b, id)).toEqual([]);
    },
  );

  test("an attach whose snapshot is damaged, or is none of ours", async () => {
    const id = await newSandbox(a);
    await instances.passing(a.sandboxes.detach(id));
    for (const content of ["junk", ""]) {
      b.store.next("readSnapshot", async () => new TextEncoder().encode(content));
      await expect(references(b, id)).rejects.toMatchObject({ code: "snapshot_damaged" });
      expect(held(id)).toBeNull();
    }
  });

  test.each(["putSnapshot", "writeManifest"] as const)("a creation whose %s fails", async (request) => {
    a.store.next(request, down);
    await expect(newSandbox(a)).rejects.toMatchObject({ code: "snapshot_store_unavailable" });
    await settled();
    expect(a.owned.size).toBe(0);
    expect((await a.sandboxes.list(merchant, { limit: 10 })).data).toEqual([]);
  });

  test("a shutdown whose checkpoint fails, and all others are checkpointed", async () => {
    const ids = [await newSandbox(a), await newSandbox(a)];
    for (const id of ids) await authorize(a, id, "unsaved");
    a.store.next("putSnapshot", down);
    await instances.passing(a.sandboxes.close());
    expect(ids.map(held)).toEqual([null, null]);
    const found = await Promise.all(ids.map((id) => references(b, id)));
    expect(found.sort()).toEqual([[], ["unsaved"]]);
    expect(types(a)).toContain("checkpoint_failed");
    await expect(references(a, ids[0]!)).rejects.toMatchObject({ code: "service_unavailable" });
  });

  test("a shutdown ends the wait of an attach", async () => {
    const id = await newSandbox(a);
    const first = busy(a, id);
    await first.inside;
    const attached = b.sandboxes.attach(id, merchant);
    attached.catch(() => undefined);
    await instances.pass(1_000);
    await instances.passing(b.sandboxes.close());
    await expect(attached).rejects.toMatchObject({ code: "wait_cancelled" });
    first.leave.open();
    await first.answered;
  });

  test("a loss while the snapshot is being read", async () => {
    const id = await newSandbox(a);
    await instances.passing(a.sandboxes.detach(id));
    b.store.next("readSnapshot", async (carryOut) => {
      await instances.leases.amend(sandboxResourceId(id), { ownerId: "somebody" });
      await instances.pass(3_000);
      return carryOut();
    });
    await expect(b.sandboxes.attach(id, merchant)).rejects.toMatchObject({ code: "sandbox_lost" });
    expect(b.owned.size).toBe(0);
  });
});

describe("an owner that has lost its sandbox", () => {
  test("an owner that has lost its sandbox drops it at once, fails its requests, checkpoints nothing, and has it again when asked again", async () => {
    const id = await newSandbox(a);
    await a.sandboxes.checkpoint(id, merchant);
    await authorize(a, id, "unsaved");
    const hanging = busy(a, id);
    await hanging.inside;
    await instances.leases.amend(sandboxResourceId(id), { ownerId: null, expiresAt: 0 });
    const before = a.store.requests.length;
    await instances.pass(2_100);
    await expect(hanging.answered).rejects.toMatchObject({ code: "sandbox_lost" });
    expect(a.sandboxes.isHere(id)).toBe(false);
    await instances.pass(60_000);
    await a.sandboxes.tend();
    expect(a.store.requests.length).toBe(before);
    expect(types(a)).toContain("lost");
    expect(await references(a, id)).toEqual([]);
  });

  test("an owner that has lost its sandbox because it was stalled: it answers nothing more from memory, though no timer has told it yet", async () => {
    const id = await newSandbox(a);
    await authorize(a, id, "unsaved");
    const under = busy(a, id);
    await under.inside;
    instances.leases.clock.stall(20_000);
    under.leave.open();
    await expect(under.answered).rejects.toMatchObject({ code: "sandbox_lost" });
    expect(a.sandboxes.isHere(id)).toBe(false);
  });

  test("overwrites nothing with a checkpoint that was under way", async () => {
    const id = await newSandbox(a);
    await authorize(a, id, "unsaved");
    const upload = new Gate();
    a.store.next("putSnapshot", async (carryOut) => {
      await carryOut();
      await upload.passed;
    });
    const checkpoint = a.sandboxes.checkpoint(id, merchant);
    checkpoint.catch(() => undefined);
    await settled();
    silence(a);
    await instances.passing(b.sandboxes.attach(id, merchant));
    await authorize(b, id, "newer");
    await b.sandboxes.checkpoint(id, merchant);
    const manifest = await instances.manifest(id);
    upload.open();
    await expect(checkpoint).rejects.toMatchObject({ code: "sandbox_lost" });
    a.process.store.clear();
    expect(await instances.manifest(id)).toEqual(manifest);
    expect(await references(b, id)).toEqual(["newer"]);
  });

  test("an owner that has lost its sandbox is refused by the manifest even if it believes in its lease", async () => {
    const id = await newSandbox(a);
    await authorize(a, id, "unsaved");
    const written = new Gate();
    // Its request to the store is on its way for longer than the lease lasts.
    a.store.next("writeManifest", async (carryOut) => {
      await written.passed;
      return carryOut();
    });
    const checkpoint = a.sandboxes.checkpoint(id, merchant);
    checkpoint.catch(() => undefined);
    await settled();
    silence(a);
    await instances.passing(b.sandboxes.attach(id, merchant));
    const manifest = await instances.manifest(id);
    written.open();
    await expect(checkpoint).rejects.toMatchObject({ code: "sandbox_lost" });
    a.process.store.clear();
    expect(await instances.manifest(id)).toEqual(manifest);
  });

  test("an owner that has lost its sandbox between acquiring and claiming does not take over a newer tenure's world", async () => {
    const id = await newSandbox(a);
    await instances.passing(a.sandboxes.detach(id));
    const reading = new Gate();
    b.store.next("readManifest", (carryOut) => carryOut());
    b.store.next("readManifest", async (carryOut) => {
      await reading.passed;
      return carryOut();
    });
    const stalled = b.sandboxes.attach(id, merchant);
    stalled.catch(() => undefined);
    await instances.pass(100);
    silence(b);
    await instances.passing(c.sandboxes.attach(id, merchant));
    const manifest = await instances.manifest(id);
    reading.open();
    await expect(instances.passing(stalled)).rejects.toMatchObject({ code: "sandbox_lost" });
    b.process.store.clear();
    expect(await instances.manifest(id)).toEqual(manifest);
  });
});

describe("a sandbox that nobody alive owns", () => {
  test("a sandbox that nobody alive owns is attached by whoever is asked, once for all who ask", async () => {
    const id = await newSandbox(a);
    await authorize(a, id, "saved");
    await instances.passing(a.sandboxes.detach(id));
    const answers = await Promise.all([references(b, id), references(b, id), references(b, id)]);
    expect(answers).toEqual([["saved"], ["saved"], ["saved"]]);
    expect(types(b)).toEqual(["attached"]);
  });

  test("a sandbox that nobody alive owns because its owner died: not before the lease is over, and then with the last checkpoint", async () => {
    const id = await newSandbox(a);
    await authorize(a, id, "saved");
    await a.sandboxes.checkpoint(id, merchant);
    await authorize(a, id, "unsaved");
    silence(a);
    await instances.pass(1_000);
    await expect(references(b, id)).rejects.toMatchObject({ code: "sandbox_elsewhere" });
    await instances.passing(b.sandboxes.attach(id, merchant));
    expect(await references(b, id)).toEqual(["saved"]);
    a.process.store.clear();
  });

  test("a sandbox that nobody alive owns is not attached for another merchant's request, to whom it does not exist", async () => {
    const id = await newSandbox(a);
    await instances.passing(a.sandboxes.detach(id));
    const other = parseMerchantId("other");
    const asked = [
      () => b.sandboxes.use(id, other, async () => "in"),
      () => b.sandboxes.attach(id, other),
      () => b.sandboxes.delete(id, other),
      () => b.sandboxes.checkpoint(unknownId, merchant),
    ];
    for (const ask of asked) await expect(ask()).rejects.toMatchObject({ code: "sandbox_not_found" });
    expect(types(b)).toEqual([]);
    expect((await b.sandboxes.list(other, { limit: 10 })).data).toEqual([]);
    await references(b, id);
    await expect(b.sandboxes.use(id, other, async () => "in")).rejects.toMatchObject({
      code: "sandbox_not_found",
    });
  });
});

describe("deleting", () => {
  test("deleting takes manifest and snapshots, wherever it was, and what comes later finds nothing", async () => {
    for (const where of ["here", "nowhere"]) {
      const id = await newSandbox(a);
      await a.sandboxes.checkpoint(id, merchant);
      if (where === "nowhere") await instances.passing(a.sandboxes.detach(id));
      await instances.passing(a.sandboxes.delete(id, merchant));
      expect(await instances.shared.snapshotNames(id)).toEqual([]);
      await expect(references(a, id)).rejects.toMatchObject({ code: "sandbox_not_found" });
      await expect(instances.passing(b.sandboxes.attach(id, merchant))).rejects.toMatchObject({
        code: "sandbox_not_found",
      });
    }
  });

  test("deleting waits for requests under way; those that come meanwhile are told that it is gone", async () => {
    const id = await newSandbox(a);
    const first = busy(a, id);
    await first.inside;
    const deleted = a.sandboxes.delete(id, merchant);
    await settled();
    const late = references(a, id);
    late.catch(() => undefined);
    first.leave.open();
    expect(await first.answered).toBe("done");
    await instances.passing(deleted);
    await expect(late).rejects.toMatchObject({ code: "sandbox_not_found" });
  });

  test("deleting is the owner's to do", async () => {
    const id = await newSandbox(a);
    await expect(b.sandboxes.delete(id, merchant)).rejects.toMatchObject({
      code: "sandbox_elsewhere",
      facts: { ownerUrl: a.url },
    });
    expect(await references(a, id)).toEqual([]);
  });

  test("a waiter that comes too late is told that there is nothing", async () => {
    const id = await newSandbox(a);
    const first = busy(a, id);
    await first.inside;
    const deleted = a.sandboxes.delete(id, merchant);
    const attached = b.sandboxes.attach(id, merchant);
    attached.catch(() => undefined);
    await instances.pass(1_000);
    first.leave.open();
    await instances.passing(deleted);
    await expect(instances.passing(attached)).rejects.toMatchObject({ code: "sandbox_not_found" });
    expect(b.owned.size).toBe(0);
  });
});
