/**
 * Where idempotency keys are kept, under the names that the caller gives to what it wants to happen ("capture of order 17").
 * It has to outlive the caller's process: the key of a call that was cut off is what makes the next one a repetition.
 */
export interface KeyPlace {
  /**
   * The key of that name. Where there is none yet, `fresh` becomes it, and is stored for good before this resolves. Of
   * several that ask at once for a new name, all get the same one.
   */
  keep(name: string, fresh: string): Promise<string>;
}

/** Keys that end with the process: for tests, and for callers whose names are keys already. */
export class MemoryKeys implements KeyPlace {
  private readonly keys = new Map<string, string>();

  async keep(name: string, fresh: string): Promise<string> {
    const known = this.keys.get(name);
    if (known === undefined) this.keys.set(name, fresh);
    return known ?? fresh;
  }
}
