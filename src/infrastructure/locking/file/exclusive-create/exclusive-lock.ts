import { foreignFile, UnusableLockFileError } from "../file-lock-errors";
import type { LockFiles } from "../on-disk/lock-files";
import { parseRecord, serializeRecord, type LockRecord } from "../on-disk/lock-record";
import type { Fate } from "./process-identity";

/**
 * A lock that is a file's existence. One rule carries it: a file that exists is replaced or removed only by whoever holds
 * `<file>.breaking`, created just as exclusively. (A check of the content before the rename is not enough: of two who
 * both saw the dead holder's file, the slower one would replace the faster one's.)
 *
 * A breaker may be left over by a crash like any lock, and is taken over like any lock: under a breaker of its own. Each
 * further level needs one more process to die within the few steps of a takeover.
 */
export interface ExclusiveLockParts {
  readonly files: LockFiles;
  /** Whether the tenure behind a record is over. `gone` is final. */
  readonly fateOf: (record: LockRecord) => Promise<Fate>;
}

/** Beyond this many dead breakers on top of each other a person is asked. */
const MOST_BREAKERS = 3;

/** `by`: who is inside, or who is replacing the file just now. Undefined when it was gone before it could be read. */
export type Taken = { readonly taken: true } | { readonly taken: false; readonly by: LockRecord | undefined };

/** One attempt to make `path` ours. */
export function takeExclusively(parts: ExclusiveLockParts, path: string, own: LockRecord): Promise<Taken> {
  return take(parts, path, own, 0);
}

export type Changed = "changed" | "different" | "busy";

/** Removes the file if its record is the one that is meant. `busy`: somebody is replacing it; ask again. */
export function removeExclusively(
  parts: ExclusiveLockParts,
  path: string,
  claim: LockRecord,
  isMeant: (record: LockRecord) => boolean,
  before: () => Promise<void> = async () => {},
): Promise<Changed> {
  return underBreaker(parts, path, claim, 0, meaning(isMeant), async () => {
    await before();
    await parts.files.remove(path);
  });
}

/** Puts another record of the same tenure in place of the present one. */
export function rewriteExclusively(
  parts: ExclusiveLockParts,
  path: string,
  next: LockRecord,
): Promise<Changed> {
  const isOwn = meaning((record) => record.nonce === next.nonce);
  return underBreaker(parts, path, next, 0, isOwn, () => parts.files.replace(path, serializeRecord(next)));
}

async function take(parts: ExclusiveLockParts, path: string, own: LockRecord, level: number): Promise<Taken> {
  const { files } = parts;
  const seen = await files.read(path);
  if (seen === null) {
    if (await files.create(path, serializeRecord(own))) return { taken: true };
    const winner = parseRecord((await files.read(path)) ?? "");
    if (typeof winner === "string") return { taken: false, by: undefined };
    // Ours after all: network filesystems repeat a request whose answer was lost, and then meet its own effect.
    return winner.nonce === own.nonce ? { taken: true } : { taken: false, by: winner };
  }
  const record = parseRecord(seen);
  if (typeof record === "string" && record !== "zeros") throw foreignFile(path);
  if (record !== "zeros" && (await parts.fateOf(record)) !== "gone") return { taken: false, by: record };

  // The dead change nothing any more: as long as the bytes are those that were judged, the judgement stands. Zeros are
  // nobody's: whoever wrote a record there looks at it, and takes it for lost.
  const replaced = await underBreaker(
    parts,
    path,
    own,
    level,
    (now) => now === seen,
    async () => {
      if (record === "zeros") await files.setAside(path);
      await files.replace(path, serializeRecord(own));
    },
  );
  return replaced === "changed" ? { taken: true } : { taken: false, by: undefined };
}

async function underBreaker(
  parts: ExclusiveLockParts,
  path: string,
  claim: LockRecord,
  level: number,
  isExpected: (content: string | null) => boolean,
  change: () => Promise<void>,
): Promise<Changed> {
  const breaker = `${path}.breaking`;
  if (level === MOST_BREAKERS)
    throw new UnusableLockFileError(
      `${path} and the files it breaks were left over by crashes; make sure that nothing uses this lock, then remove them`,
    );
  if (!(await take(parts, breaker, claim, level + 1)).taken) return "busy";
  try {
    // Read again only now: before, another breaker's holder may have changed it.
    if (!isExpected(await parts.files.read(path))) return "different";
    await change();
    return "changed";
  } finally {
    await parts.files.remove(breaker);
  }
}

function meaning(isMeant: (record: LockRecord) => boolean): (content: string | null) => boolean {
  return (content) => {
    const record = content === null ? "empty" : parseRecord(content);
    return typeof record !== "string" && isMeant(record);
  };
}
