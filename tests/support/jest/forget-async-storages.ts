import asyncHooks from "node:async_hooks";

/**
 * A worker runs one test file after the other, and each leaves the AsyncLocalStorages that it and Jest have used. Node 20
 * goes through all of them for each promise that is made: without this, files that come late run several times slower.
 * From Node 24 on nothing goes through them. There, and on newer versions of 22, the module's exports cannot be exchanged.
 */
interface Remembering {
  /** Those of the test file that runs now. Kept at the built-in module, which is all that two test files share. */
  used?: Set<asyncHooks.AsyncLocalStorage<unknown>>;
}

const shared = asyncHooks.AsyncLocalStorage as Remembering;

const isFixed =
  Object.getOwnPropertyDescriptor(asyncHooks, "AsyncLocalStorage")?.writable !== true &&
  shared.used === undefined;
if (isFixed) {
  // Nothing can be forgotten.
} else if (shared.used === undefined) {
  const used = new Set<asyncHooks.AsyncLocalStorage<unknown>>();
  class RememberedStorage<T> extends asyncHooks.AsyncLocalStorage<T> {
    static readonly used = used;
    override run<R>(store: T, callback: (...args: never[]) => R, ...args: never[]): R {
      used.add(this);
      return super.run(store, callback, ...args);
    }
  }
  Object.assign(asyncHooks, { AsyncLocalStorage: RememberedStorage });
} else {
  for (const storage of shared.used) storage.disable();
  shared.used.clear();
}
