import { randomBytes } from "node:crypto";
import { link, mkdir, open, readdir, readFile, rm, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import {
  manifestVersion,
  SnapshotStoreError,
  type ManifestVersion,
  type SnapshotStore,
  type StoredManifest,
} from "../../application/ports/snapshot-store";

const MANIFEST = /^manifest\.(\d{1,15})$/;
const SNAPSHOT = /^([a-z0-9-]{1,100})\.snapshot$/;
const SANDBOX = /^[a-z0-9-]{1,100}$/;
/** Somebody is writing while we look: look again, a few times. */
const MAX_LOOKS = 20;

/**
 * Excludes: other writers of the same manifest, on every host that has this directory: `manifest.<n>` is created
 * exclusively, and the highest n counts.
 * Survives: crashes and power loss, as far as the disk does what fsync says.
 * Not for: filesystems without hard links; several hosts only where the directory is really shared.
 */
export class DirectorySnapshotStore implements SnapshotStore {
  constructor(private readonly directory: string) {}

  async putSnapshot(sandboxId: string, name: string, bytes: Uint8Array): Promise<void> {
    const path = this.snapshotFile(sandboxId, name);
    await this.doing(`write ${path}`, async () => {
      await this.makeFolder(sandboxId);
      if (await createWhole(path, bytes)) return;
      if (Buffer.compare(await readFile(path), bytes) !== 0)
        throw new SnapshotStoreError(`${path} is there already, with other content`);
    });
  }

  async readSnapshot(sandboxId: string, name: string): Promise<Uint8Array | null> {
    const path = this.snapshotFile(sandboxId, name);
    return this.doing(`read ${path}`, () => orNull(readFile(path)));
  }

  async snapshotNames(sandboxId: string): Promise<readonly string[]> {
    return (await this.namesIn(sandboxId)).flatMap((name) => SNAPSHOT.exec(name)?.[1] ?? []);
  }

  async removeSnapshot(sandboxId: string, name: string): Promise<void> {
    const path = this.snapshotFile(sandboxId, name);
    await this.doing(`remove ${path}`, () => orNull(unlink(path)));
  }

  async readManifest(sandboxId: string): Promise<StoredManifest | null> {
    return this.doing(`read the manifest of ${sandboxId}`, async () => {
      for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
        const number = await this.highest(sandboxId);
        if (number === 0) return null;
        const text = await orNull(readFile(this.manifestFile(sandboxId, number), "utf8"));
        // Gone: a newer one was written, and this one cleaned up, between the two looks.
        if (text === null) continue;
        return text === "" ? null : { text, version: manifestVersion(number) };
      }
      throw new SnapshotStoreError(`the manifest of ${sandboxId} does not stand still`);
    });
  }

  async writeManifest(
    sandboxId: string,
    text: string,
    ifVersion: ManifestVersion | "absent",
  ): Promise<ManifestVersion | "conflict"> {
    return this.doing(`write the manifest of ${sandboxId}`, async () => {
      // Only a new sandbox makes its folder: a late writer to a removed one finds none.
      if (ifVersion === "absent") await this.makeFolder(sandboxId);
      const number = await this.writeNext(sandboxId, text, ifVersion === "absent" ? 0 : Number(ifVersion));
      return number === null ? "conflict" : manifestVersion(number);
    });
  }

  async removeSandbox(sandboxId: string, ifVersion: ManifestVersion): Promise<"removed" | "conflict"> {
    return this.doing(`remove ${sandboxId}`, async () => {
      // First an empty manifest: among all who want to write the next one, one wins. Then everything.
      if ((await this.writeNext(sandboxId, "", Number(ifVersion))) === null) return "conflict";
      await rm(join(this.directory, sandboxId), { recursive: true, force: true });
      return "removed";
    });
  }

  async sandboxes(): Promise<readonly string[]> {
    return this.doing(`list ${this.directory}`, async () => {
      const names = ((await orNull(readdir(this.directory))) ?? []).filter((name) => SANDBOX.test(name));
      const found: string[] = [];
      for (const name of names.sort()) if ((await this.readManifest(name)) !== null) found.push(name);
      return found;
    });
  }

  private async writeNext(sandboxId: string, text: string, number: number): Promise<number | null> {
    if ((await this.highest(sandboxId)) !== number) return null;
    const next = number + 1;
    const created = await orNull(createWhole(this.manifestFile(sandboxId, next), Buffer.from(text)));
    if (created !== true) return null;
    // Old ones are cleaned up, so a stalled writer's number may be free again; then it is not the highest.
    if ((await this.highest(sandboxId)) !== next) return null;
    for (const name of await this.namesIn(sandboxId)) {
      const old = Number(MANIFEST.exec(name)?.[1] ?? Infinity);
      if (old < number) await orNull(unlink(join(this.directory, sandboxId, name)));
    }
    return next;
  }

  private async makeFolder(sandboxId: string): Promise<void> {
    const made = await mkdir(join(this.directory, sandboxId), { recursive: true, mode: 0o700 });
    if (made !== undefined) await syncDirectory(this.directory);
  }

  private async highest(sandboxId: string): Promise<number> {
    const numbers = (await this.namesIn(sandboxId)).map((name) => Number(MANIFEST.exec(name)?.[1] ?? 0));
    return Math.max(0, ...numbers);
  }

  private async namesIn(sandboxId: string): Promise<readonly string[]> {
    const folder = join(this.directory, sandboxId);
    return (await this.doing(`list ${folder}`, () => orNull(readdir(folder)))) ?? [];
  }

  private manifestFile(sandboxId: string, number: number): string {
    return join(this.directory, sandboxId, `manifest.${number}`);
  }

  private snapshotFile(sandboxId: string, name: string): string {
    return join(this.directory, sandboxId, `${name}.snapshot`);
  }

  private async doing<T>(what: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof SnapshotStoreError) throw error;
      const { code, message } = error as NodeJS.ErrnoException;
      throw new SnapshotStoreError(`cannot ${what}: ${code ?? message}`, { cause: error });
    }
  }
}

/** False if there is a file already. Written aside, forced to disk, linked into place: whole, or not there. */
async function createWhole(path: string, bytes: Uint8Array): Promise<boolean> {
  const aside = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  const file = await open(aside, "wx", 0o600);
  try {
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await link(aside, path);
    await syncDirectory(dirname(path));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  } finally {
    await unlink(aside).catch(() => undefined);
  }
}

/** The name itself is in the directory, and not on disk before this. */
async function syncDirectory(path: string): Promise<void> {
  if (process.platform === "win32") return;
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

async function orNull<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
