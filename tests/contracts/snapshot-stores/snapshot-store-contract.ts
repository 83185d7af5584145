import type { ManifestVersion, SnapshotStore } from "../../../src/application/ports/snapshot-store";

export interface SnapshotStoreHarness {
  readonly name: string;
  readonly open: () => Promise<{
    readonly store: SnapshotStore;
    /** The same content, reached by somebody else. */
    readonly another: SnapshotStore;
    readonly close?: () => Promise<void>;
  }>;
}

const bytes = (text: string) => new TextEncoder().encode(text);

/** What every adapter of the port promises. */
export function describeSnapshotStoreContract({ name, open }: SnapshotStoreHarness): void {
  describe(`${name} keeps the snapshot store's contract`, () => {
    let store: SnapshotStore;
    let another: SnapshotStore;
    let close: (() => Promise<void>) | undefined;
    beforeEach(async () => ({ store, another, close } = await open()));
    afterEach(async () => close?.());

    const id = "01a1ee1d-0000-7000-8000-000000000001";
    const written = async (text: string, ifVersion: ManifestVersion | "absent") => {
      const version = await store.writeManifest(id, text, ifVersion);
      if (version === "conflict") throw new Error("a conflict that nobody made");
      return version;
    };

    test("a snapshot comes back byte for byte, to everybody", async () => {
      const content = Uint8Array.from({ length: 100_000 }, (_, index) => (index * 7) % 256);
      await store.putSnapshot(id, "1-1", content);
      await store.putSnapshot(id, "1-2", bytes(""));
      expect(Buffer.from((await another.readSnapshot(id, "1-1"))!).equals(Buffer.from(content))).toBe(true);
      expect((await another.readSnapshot(id, "1-2"))!.length).toBe(0);
    });

    test("what looks like JSON, or is none, comes back as it was put", async () => {
      const odd = ['{"b":1,  "a":2}', '{"header":1}\n{"body":2}', "ÿ\u0000é"];
      for (const [index, text] of odd.entries()) await store.putSnapshot(id, `1-${index}`, bytes(text));
      for (const [index, text] of odd.entries())
        expect(Buffer.from((await store.readSnapshot(id, `1-${index}`))!).toString()).toBe(text);
    });

    test("what was never put is null, and nobody's list has it", async () => {
      expect(await store.readSnapshot(id, "1-1")).toBeNull();
      expect(await store.snapshotNames(id)).toEqual([]);
      expect(await store.readManifest(id)).toBeNull();
      expect(await store.sandboxes()).toEqual([]);
      await store.removeSnapshot(id, "1-1");
    });

    test("a snapshot never changes: the same bytes again are accepted, others refused", async () => {
      await store.putSnapshot(id, "1-1", bytes("one"));
      await another.putSnapshot(id, "1-1", bytes("one"));
      await expect(another.putSnapshot(id, "1-1", bytes("two"))).rejects.toMatchObject({
        code: "snapshot_store_unavailable",
      });
      expect(await store.readSnapshot(id, "1-1")).toEqual(Buffer.from("one"));
    });

    test("a snapshot store lists and removes snapshots of one sandbox alone", async () => {
      const other = "01a1ee1d-0000-7000-8000-000000000002";
      await store.putSnapshot(id, "1-1", bytes("a"));
      await store.putSnapshot(id, "1-2", bytes("b"));
      await store.putSnapshot(other, "1-1", bytes("c"));
      expect([...(await another.snapshotNames(id))].sort()).toEqual(["1-1", "1-2"]);
      await another.removeSnapshot(id, "1-1");
      expect(await store.snapshotNames(id)).toEqual(["1-2"]);
      expect(await store.snapshotNames(other)).toEqual(["1-1"]);
    });

    test("a manifest is created once, and read with its version", async () => {
      const version = await written('{"n":1}', "absent");
      expect(await another.writeManifest(id, '{"n":2}', "absent")).toBe("conflict");
      const read = await another.readManifest(id);
      expect(read?.version).toBe(version);
      expect(JSON.parse(read!.text)).toEqual({ n: 1 });
      expect(await store.sandboxes()).toEqual([id]);
    });

    test("a manifest is replaced only by whoever has seen the newest version", async () => {
      const first = await written('{"n":1}', "absent");
      const second = await written('{"n":2}', first);
      expect(second).not.toBe(first);
      expect(await another.writeManifest(id, '{"n":3}', first)).toBe("conflict");
      expect(JSON.parse((await store.readManifest(id))!.text)).toEqual({ n: 2 });
      await another.writeManifest(id, '{"n":3}', second);
      expect(JSON.parse((await store.readManifest(id))!.text)).toEqual({ n: 3 });
    });

    test("a writer with an old version gets a conflict, however many have written since", async () => {
      const versions = [await written('{"n":0}', "absent")];
      for (let n = 1; n < 6; n += 1) versions.push(await written(`{"n":${n}}`, versions.at(-1)!));
      for (const old of versions.slice(0, -1))
        expect(await another.writeManifest(id, '{"late":true}', old)).toBe("conflict");
      expect(JSON.parse((await store.readManifest(id))!.text)).toEqual({ n: 5 });
      expect(new Set(versions).size).toBe(versions.length);
    });

    test("a snapshot store of twenty who write at once over one version, one wins", async () => {
      const version = await written('{"n":0}', "absent");
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          (n % 2 === 0 ? store : another).writeManifest(id, `{"by":${n}}`, version),
        ),
      );
      const winners = answers.flatMap((answer, by) => (answer === "conflict" ? [] : [{ answer, by }]));
      expect(winners).toHaveLength(1);
      const read = await store.readManifest(id);
      expect(read?.version).toBe(winners[0]!.answer);
      expect(JSON.parse(read!.text)).toEqual({ by: winners[0]!.by });
    });

    test("removal needs the newest version, takes everything, and late writers bring nothing back", async () => {
      const first = await written('{"n":1}', "absent");
      await store.putSnapshot(id, "1-1", bytes("a"));
      const second = await written('{"n":2}', first);
      expect(await another.removeSandbox(id, first)).toBe("conflict");
      expect(await store.readSnapshot(id, "1-1")).not.toBeNull();
      expect(await another.removeSandbox(id, second)).toBe("removed");
      expect(await store.readManifest(id)).toBeNull();
      expect(await store.snapshotNames(id)).toEqual([]);
      expect(await store.writeManifest(id, '{"n":3}', second)).toBe("conflict");
      expect(await store.removeSandbox(id, second)).toBe("conflict");
      expect(await store.sandboxes()).toEqual([]);
    });

    test("a snapshot store lists sandboxes in ascending order", async () => {
      for (const last of [3, 1, 2])
        await store.writeManifest(`01a1ee1d-0000-7000-8000-00000000000${last}`, "{}", "absent");
      expect((await another.sandboxes()).map((name) => name.at(-1))).toEqual(["1", "2", "3"]);
    });
  });
}
