import type { AgreedPermits } from "../../slots/agreed-permits";
import { foreignFile, orUnavailable } from "../file-lock-errors";
import type { LockFiles } from "./lock-files";

/** One file for each semaphore, with its number of permits. It is never removed, as a fence is not. */
export class PermitsFiles implements AgreedPermits {
  constructor(
    private readonly files: Pick<LockFiles, "read" | "create" | "replace">,
    private readonly pathOf: (resourceId: string) => string,
  ) {}

  read(resourceId: string): Promise<number | null> {
    return orUnavailable(resourceId, async () => {
      const path = this.pathOf(resourceId);
      const text = await this.files.read(path);
      if (text === null) return null;
      if (!/^\d{1,4}\n$/.test(text)) throw foreignFile(path);
      return Number(text);
    });
  }

  /** Only the first number is raced for; whoever changes one later has all slots, and slot 0, to itself. */
  replace(
    resourceId: string,
    from: number | null,
    to: number,
    isStillAlone: () => boolean,
  ): Promise<boolean> {
    return orUnavailable(resourceId, async () => {
      const path = this.pathOf(resourceId);
      if (from === null) return this.files.create(path, `${to}\n`);
      if ((await this.read(resourceId)) !== from || !isStillAlone()) return false;
      await this.files.replace(path, `${to}\n`);
      return true;
    });
  }
}
