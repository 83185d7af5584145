import { createHash, randomUUID } from "node:crypto";
import { link, mkdir, open, readdir, readFile, stat, unlink } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { KeyPlace } from "./key-place";

/** Whoever writes one needs milliseconds; clocks of machines that share the directory may differ. */
const DRAFT_IS_LEFT_AFTER_MS = 3_600_000;

/** Keys in a directory, one small file each, for all processes of one machine. Delete files of names that are over. */
export class FileKeys implements KeyPlace {
  private made: Promise<void> | undefined;

  constructor(private readonly directory: string) {}

  async keep(name: string, fresh: string): Promise<string> {
    const making = (this.made ??= made(this.directory));
    try {
      await making;
      // A name may be anything; a file's may not.
      const path = join(this.directory, `${createHash("sha256").update(name).digest("hex")}.json`);
      const known = await keyIn(path, name);
      const key = known ?? (await this.stored(path, name, fresh));
      // Whoever stored it may not have come so far: it is sent only when it is as durable as the directory that lists it.
      await synced(this.directory);
      return key;
    } catch (error) {
      // The next call begins anew: what was in the way may be gone, or the directory itself.
      if (this.made === making) this.made = undefined;
      throw error;
    }
  }

  private async stored(path: string, name: string, fresh: string): Promise<string> {
    const draft = join(draftsOf(this.directory), `${randomUUID()}.draft`);
    try {
      await written(draft, `${JSON.stringify({ name, key: fresh })}\n`);
      // Unlike a rename, this never replaces what somebody else stored meanwhile.
      await link(draft, path);
      return fresh;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      const theirs = await keyIn(path, name);
      if (theirs === null)
        throw new Error(`${path} was removed while it was read: call again`, { cause: error });
      return theirs;
    } finally {
      await unlink(draft).catch(() => {});
    }
  }
}

/** Apart from the keys, of which there may be very many: what crashes have left is found without reading all of those. */
function draftsOf(directory: string): string {
  return join(directory, ".drafts");
}

async function made(given: string): Promise<void> {
  const directory = resolve(given);
  const first = await mkdir(directory, { recursive: true });
  // Each of the directories that were made is as durable as the one that lists it.
  for (let place = directory; first !== undefined && place.length >= first.length; place = dirname(place))
    await synced(dirname(place));
  await mkdir(draftsOf(directory), { recursive: true });
  await swept(draftsOf(directory));
}

/** A draft that nobody finished is no key: nothing was sent with it. */
async function swept(drafts: string): Promise<void> {
  const leftBefore = Date.now() - DRAFT_IS_LEFT_AFTER_MS;
  for (const name of await readdir(drafts)) {
    const path = join(drafts, name);
    // Another process may have been faster, or may have the right to remove it where this one has not.
    const isLeft = await stat(path).then(
      ({ mtimeMs }) => mtimeMs < leftBefore,
      () => false,
    );
    if (isLeft) await unlink(path).catch(() => {});
  }
}

/** Null where there is none. A damaged file is no reason for a new key: money may have moved under the one it had. */
async function keyIn(path: string, name: string): Promise<string | null> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
  const found = parsed(text);
  if (found?.name === name && typeof found.key === "string" && found.key !== "") return found.key;
  throw new Error(
    `${path} is damaged: it has to have the idempotency key of "${name}"; find out which one was used`,
  );
}

function parsed(text: string): { readonly name?: unknown; readonly key?: unknown } | null {
  try {
    return JSON.parse(text) as { name?: unknown; key?: unknown } | null;
  } catch {
    return null;
  }
}

async function written(path: string, text: string): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Where directories cannot be opened, nothing can be done. */
async function synced(directory: string): Promise<void> {
  const folder = await open(directory, "r").catch(() => null);
  if (folder === null) return;
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
