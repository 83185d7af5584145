// Excludes: nobody; it looks at the locks of one directory without taking them.
// Survives: files that are not ours; they are shown as unknown.
// Not for: freeing a kernel lock; only the end of its processes does that.
import type {
  BreakOutcome,
  InspectedLock,
  LockInspector,
} from "../../../../application/ports/lock-inspector";
import { breakFileLock } from "./break-file-lock";
import { listFileLocks, showFileLock, type ListedFileLock } from "./list-file-locks";

export class FileLockInspector implements LockInspector {
  constructor(private readonly directory: string) {}

  async list(): Promise<readonly InspectedLock[]> {
    return (await listFileLocks(this.directory)).map(inspected);
  }

  async show(resourceId: string): Promise<InspectedLock | null> {
    const found = await showFileLock(this.directory, resourceId);
    return found === null ? null : inspected(found);
  }

  async break(resourceId: string, ifHeldBy: string): Promise<BreakOutcome> {
    const result = await breakFileLock(this.directory, resourceId, ifHeldBy);
    return "lock" in result ? { ...result, lock: inspected(result.lock) } : result;
  }

  /** Their files stay: a kernel lock's file is never unlinked, and the counters of fencing tokens are kept. */
  async sweep(): Promise<readonly string[]> {
    return [];
  }
}

function inspected({
  resourceId,
  state,
  file,
  holder,
  processes,
  mode,
  remark,
}: ListedFileLock): InspectedLock {
  const remarks = [remark, mode === "exclusive-create" ? "exclusive-create mode" : undefined];
  const said = remarks.filter((one) => one !== undefined);
  return {
    resourceId,
    state,
    where: file,
    ...(holder === undefined ? {} : { holder }),
    ...(processes.length === 0 ? {} : { processes }),
    ...(said.length === 0 ? {} : { remark: said.join("; ") }),
  };
}
