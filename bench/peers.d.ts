// As much of the peers' interfaces as is used here: the program is checked without having them installed.
declare module "async-lock" {
  export default class AsyncLock {
    constructor(options?: { maxPending?: number });
    acquire<T>(key: string, section: () => Promise<T>): Promise<T>;
  }
}

declare module "@verrou/core" {
  export class LockFactory {
    constructor(store: unknown, config?: { logger?: unknown });
    createLock(key: string): { run<T>(section: () => Promise<T>): Promise<[boolean, T]> };
  }
}

declare module "@verrou/core/drivers/memory" {
  export class MemoryStore {}
}

declare module "redis-semaphore" {
  export class Mutex {
    constructor(client: unknown, key: string);
    acquire(): Promise<void>;
    release(): Promise<void>;
  }
}

declare module "redlock" {
  export default class Redlock {
    constructor(clients: Iterable<unknown>, settings?: { automaticExtensionThreshold?: number });
    using<T>(resources: string[], durationMs: number, section: () => Promise<T>): Promise<T>;
    on(event: "error", listener: (error: unknown) => void): this;
  }
}

declare module "proper-lockfile" {
  export function lock(path: string, options?: { realpath?: boolean }): Promise<() => Promise<void>>;
}
