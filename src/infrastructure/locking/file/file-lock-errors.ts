import { LockUnavailableError } from "../../../application/ports/lock-errors";

/** The directory or a file in it is such that no later attempt can succeed until a person has acted. */
export class UnusableLockFileError extends Error {
  override readonly name = "UnusableLockFileError";
}

/** Somebody else's file under a lock's name. Overwriting it could destroy what we know nothing about. */
export function foreignFile(path: string): UnusableLockFileError {
  return new UnusableLockFileError(
    `${path} was not written by Holdfast and is left alone; move it away, or use another directory`,
  );
}

const WORDS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "not permitted",
  EROFS: "the filesystem is read-only",
  ENOTDIR: "a part of the path is not a directory",
  EEXIST: "it exists and is not a directory",
  EISDIR: "it is a directory",
  ELOOP: "it is a symbolic link, which a lock never follows",
  ENAMETOOLONG: "the name is too long",
};

/** Words for what will not pass by itself; everything else (a full disk, too many open files) is returned as it is. */
export function inWords(error: unknown, action: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  const words = code === undefined ? undefined : WORDS[code];
  return words === undefined
    ? error
    : new UnusableLockFileError(`cannot ${action}: ${words} (${code})`, { cause: error });
}

/** At the edge of the adapter: what a person has to repair becomes the error of the port that is not tried again. */
export async function orUnavailable<T>(resourceId: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    if (!(error instanceof UnusableLockFileError)) throw error;
    throw new LockUnavailableError(resourceId, error.message, { cause: error, permanent: true });
  }
}
