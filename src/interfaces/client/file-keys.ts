import { createHash, randomUUID } from "node:crypto";
import { link, mkdir, open, readFile, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { KeyPlace } from "./key-place";

/** Keys in a directory, one small file each, for all processes of one machine. Delete files of names that are over. */
export class FileKeys implements KeyPlace {
  private made: Promise<void> | undefined;

  constructor(private readonly directory: string) {}

  async keep(name: string, fresh: string): Promise<string> {
    await (this.made ??= made(this.directory).catch((error: unknown) => {
      // The next call tries again: what was in the way may be gone.
      this.made = undefined;
      throw error;
    }));
    // A name may be anything; a file's may not.
    const path = join(this.directory, `${createHash("sha256").update(name).digest("hex")}.json`);
    const known = await keyIn(path, name);
    const key = known ?? (await this.stored(path, name, fresh));
    // Whoever stored it may not have come so far: it is sent only when it is as durable as the directory that lists it.
    await synced(this.directory);
    return key;
  }

  private async stored(path: string, name: string, fresh: string): Promise<string> {
    const draft = join(this.directory, `.${randomUUID()}.draft`);
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

async function made(directory: string): Promise<void> {
  const first = await mkdir(directory, { recursive: true });
  if (first === undefined) return;
  // Each of the directories that were made is as durable as the one that lists it.
  for (let place = directory; place.length >= first.length; place = dirname(place))
    await synced(dirname(place));
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
