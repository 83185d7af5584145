import { sandboxResourceId, type SandboxId } from "../../../src/application/sandboxes/sandbox-ids";
import { manifestText } from "../../../src/application/sandboxes/snapshots/sandbox-manifest";
import { Gate, settled } from "../../support/fakes/gate";
import {
  authorize,
  merchant,
  newSandbox,
  references,
  SandboxInstances,
  silence,
  type SandboxInstance,
} from "../../support/worlds/sandbox-instances";

let instances: SandboxInstances;
let a: SandboxInstance;
let b: SandboxInstance;

beforeEach(() => {
  instances = new SandboxInstances();
  a = instances.instance("a");
  b = instances.instance("b");
});

afterEach(() => instances.close());

/** The next request of this kind is carried out, and its answer is kept back until the gate opens. */
function heldUp({ store }: SandboxInstance, request: Parameters<typeof store.next>[0]): Gate {
  const gate = new Gate();
  store.next(request, async (carryOut) => {
    const answer = await carryOut();
    await gate.passed;
    return answer;
  });
  return gate;
}

/** A request that is inside for as long as it likes. */
async function hanging({ sandboxes }: SandboxInstance, id: SandboxId) {
  const [inside, leave] = [new Gate(), new Gate()];
  const answered = sandboxes.use(id, merchant, async () => {
    inside.open();
    await leave.passed;
  });
  answered.catch(() => undefined);
  await inside.passed;
  return { leave, answered };
}

describe("a checkpoint", () => {
  test("a checkpoint is not the one that counts if the lease ended while it was uploaded, even if nobody else came", async () => {
    const id = await newSandbox(a);
    await authorize(a, id, "unsaved");
    const before = await instances.manifest(id);
    const upload = heldUp(a, "putSnapshot");
    const checkpoint = a.sandboxes.checkpoint(id, merchant);
    checkpoint.catch(() => undefined);
    await settled();
    instances.leases.clock.stall(20_000);
    upload.open();
    await expect(checkpoint).rejects.toMatchObject({ code: "sandbox_lost" });
    expect(await instances.manifest(id)).toEqual(before);
  });

  test("a checkpoint never counts more than one that began after it", async () => {
    const id = await newSandbox(a);
    const upload = heldUp(a, "putSnapshot");
    await authorize(a, id, "one");
    const earlier = a.sandboxes.checkpoint(id, merchant);
    await settled();
    await authorize(a, id, "two");
    const later = a.sandboxes.checkpoint(id, merchant);
    await settled();
    upload.open();
    const [first, second] = [await earlier, await later];
    const { snapshot, previous, kept } = await instances.manifest(id);
    expect([snapshot, previous, kept]).toEqual([second, first, [second, first]]);
  });

  test("sweeps nothing of a later owner's, however late it does so", async () => {
    const id = await newSandbox(a);
    await authorize(a, id, "one");
    await instances.pass(31_000);
    const listing = new Gate();
    a.store.next("snapshotNames", async (carryOut) => {
      await listing.passed;
      return carryOut();
    });
    const tended = a.sandboxes.tend();
    await settled();
    silence(a);
    await instances.passing(b.sandboxes.attach(id, merchant));
    await authorize(b, id, "two");
    const { name } = await b.sandboxes.checkpoint(id, merchant);
    listing.open();
    await tended;
    a.process.store.clear();
    expect(await instances.shared.snapshotNames(id)).toContain(name);
  });

  test("a checkpoint that finds another's manifest ends the sandbox at once: its lease is not believed any more", async () => {
    const id = await newSandbox(a);
    const stored = await instances.shared.readManifest(id);
    const manifest = await instances.manifest(id);
    const newer = manifestText({ ...manifest, fence: manifest.fence + 1n, ownerUrl: b.url });
    await instances.shared.writeManifest(id, newer, stored!.version);
    await expect(a.sandboxes.checkpoint(id, merchant)).rejects.toMatchObject({ code: "sandbox_lost" });
    expect(a.sandboxes.isHere(id)).toBe(false);
    await settled();
    expect(a.owned.size).toBe(0);
  });
});

describe("a request that outlasts everything", () => {
  test("a request that outlasts everything does not keep a sandbox that is lost meanwhile from leaving", async () => {
    const id = await newSandbox(a);
    const request = await hanging(a, id);
    let left: boolean | undefined;
    void a.sandboxes.detach(id).then((answer) => (left = answer));
    await instances.leases.amend(sandboxResourceId(id), { ownerId: null, expiresAt: 0 });
    await instances.pass(3_000);
    expect(left).toBe(true);
    await expect(request.answered).rejects.toMatchObject({ code: "sandbox_lost" });
    expect(await references(a, id)).toEqual([]);
    request.leave.open();
  });

  test("a request that outlasts everything is told that there is no such sandbox if it was deleted meanwhile", async () => {
    const id = await newSandbox(a);
    const request = await hanging(a, id);
    await instances.passing(a.sandboxes.delete(id, merchant));
    request.leave.open();
    await expect(request.answered).rejects.toMatchObject({ code: "sandbox_not_found" });
  });
});
