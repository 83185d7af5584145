import { Mutex } from "async-mutex";

/** The least that could keep callers of one id apart and forget ids that nobody wants: an async-mutex in a counted map. */
export class CountedMutexes {
  private readonly entries = new Map<string, { mutex: Mutex; users: number }>();

  async withLock<T>(id: string, section: () => Promise<T>): Promise<T> {
    let entry = this.entries.get(id);
    if (entry === undefined) this.entries.set(id, (entry = { mutex: new Mutex(), users: 0 }));
    entry.users += 1;
    try {
      return await entry.mutex.runExclusive(section);
    } finally {
      entry.users -= 1;
      if (entry.users === 0) this.entries.delete(id);
    }
  }
}
