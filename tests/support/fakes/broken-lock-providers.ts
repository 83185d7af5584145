import {
  LockCancelledError,
  LockTimeoutError,
  LockUnavailableError,
} from "../../../src/application/ports/lock-errors";
import type { LockHold, LockOptions, LockProvider } from "../../../src/application/ports/lock-provider";
import { MemoryLockProvider } from "../../../src/infrastructure/locking/memory/memory-lock-provider";

type Section<T> = (hold: LockHold) => T | PromiseLike<T>;
type WithLock = <T>(id: string, section: Section<T>, options: LockOptions) => Promise<T>;

/** A good provider with one thing changed. */
function changed(change: (good: MemoryLockProvider) => WithLock): () => LockProvider {
  return () => {
    const withLock = change(new MemoryLockProvider());
    return { withLock: (id, section, options = {}) => withLock(id, section, options) };
  };
}

const withId = (rename: (id: string) => string): (() => LockProvider) =>
  changed(
    (good) => (id, section, options) =>
      good.withLock(rename(id), (hold) => section(withHold(hold, { resourceId: id })), options),
  );

/** The hold with some of it replaced; the rest keeps working. */
function withHold(hold: LockHold, replaced: Partial<LockHold>): LockHold {
  return {
    resourceId: hold.resourceId,
    fencingToken: hold.fencingToken,
    waitedMs: hold.waitedMs,
    signal: hold.signal,
    assertHeld: () => hold.assertHeld(),
    aloneForMs: () => hold.aloneForMs(),
    ...(hold.slot !== undefined && { slot: hold.slot }),
    ...replaced,
  };
}

const withPermits = (options: LockOptions, change: (permits: number) => number): LockOptions =>
  options.permits === undefined ? options : { ...options, permits: change(options.permits) };

const without = (options: LockOptions, left: keyof LockOptions): LockOptions => {
  const { [left]: _, ...rest } = options;
  return rest;
};

/** A queue that a line of Holdfast's would never be: no re-entry check, and who is next is up to `pick`. */
class PlainQueue implements LockProvider {
  private readonly queues = new Map<string, (() => void)[]>();
  private fence = 0n;

  constructor(private readonly pick: (queue: (() => void)[]) => (() => void) | undefined) {}

  async withLock<T>(id: string, section: Section<T>): Promise<T> {
    const queue = this.queues.get(id);
    if (queue === undefined) this.queues.set(id, []);
    else await new Promise<void>((resolve) => queue.push(resolve));
    let isInside = true;
    const assertHeld = (): void => {
      if (!isInside) throw new Error("ended");
    };
    const { signal } = new AbortController();
    try {
      return await section({
        resourceId: id,
        fencingToken: (this.fence += 1n),
        waitedMs: 0,
        signal,
        assertHeld,
        aloneForMs: () => Infinity,
      });
    } finally {
      isInside = false;
      const next = this.pick(this.queues.get(id)!);
      if (next === undefined) this.queues.delete(id);
      else next();
    }
  }
}

/** Each names what is wrong with it. */
export const broken = {
  wantsAPromise: changed(
    (good) => (id, section, options) =>
      good.withLock(id, (hold) => (section(hold) as Promise<never>).then((value) => value), options),
  ),

  neverReleasesAfterAnError: changed(
    (good) => (id, section, options) =>
      new Promise((resolve, reject) => {
        const stuck = (hold: LockHold) => {
          const outcome = Promise.resolve(section(hold));
          outcome.catch(reject);
          return outcome.catch(() => new Promise<never>(() => {}));
        };
        good.withLock(id, stuck, options).then(resolve, reject);
      }),
  ),
  wrapsTheSectionsError: changed(
    (good) => (id, section, options) =>
      good.withLock(id, section, options).catch((error: unknown) => {
        throw error instanceof Error && error.message === "the section's own"
          ? new Error("failed", { cause: error })
          : error;
      }),
  ),
  throwsSynchronously: changed(
    (good) => (id, section, options) =>
      good.withLock(
        id,
        (hold) => {
          let outcome;
          try {
            outcome = section(hold);
          } catch {
            return new Promise(() => {});
          }
          return outcome;
        },
        options,
      ),
  ),
  sharesIdsThatDifferInCase: withId((id) => id.toLowerCase()),
  sharesIdsThatDifferAtTheEdges: withId((id) => id.trim()),
  sharesIdsThatNormalizeAlike: withId((id) => id.normalize()),
  sharesLongIds: withId((id) => id.slice(0, 255)),
  sharesIdsThatResolveToOnePath: withId((id) => id.replace(/^(\.\.\/)+/, "")),
  sharesAllIds: withId(() => "one lock for everything"),
  servesTheLastFirst: () => new PlainQueue((queue) => queue.pop()),
  deadlocksWhenTakenAgain: () => new PlainQueue((queue) => queue.shift()),
  runsTheSectionOfACancelledWaiter: changed(
    (good) => (id, section, options) =>
      new Promise((resolve, reject) => {
        options.signal?.addEventListener("abort", () => reject(new LockCancelledError(id, 0)), {
          once: true,
        });
        good.withLock(id, section, without(options, "signal")).then(resolve, reject);
      }),
  ),
  ignoresCancellation: changed(
    (good) => (id, section, options) => good.withLock(id, section, without(options, "signal")),
  ),
  ignoresTheTimeout: changed(
    (good) => (id, section, options) => good.withLock(id, section, { ...options, timeout: "infinite" }),
  ),
  waitsALittleOnASingleAttempt: changed(
    (good) => (id, section, options) =>
      good.withLock(id, section, options.timeout === 0 ? { ...options, timeout: "infinite" } : options),
  ),
  callsContentionUnavailable: changed(
    (good) => (id, section, options) =>
      good.withLock(id, section, options).catch((error: unknown) => {
        throw error instanceof Error && error.name === "LockTimeoutError"
          ? new LockUnavailableError(id, "busy")
          : error;
      }),
  ),
  keepsListeningToTheSignal: changed((good) => (id, section, options) => {
    options.signal?.addEventListener("abort", () => {});
    return good.withLock(id, section, options);
  }),
  repeatsFencingTokens: changed(
    (good) => (id, section, options) =>
      good.withLock(id, (hold) => section(withHold(hold, { fencingToken: 1n })), options),
  ),
  assertsWhatHasEnded: changed(
    (good) => (id, section, options) =>
      good.withLock(id, (hold) => section(withHold(hold, { assertHeld: () => {} })), options),
  ),
  letsTheObserverBreakIn: changed((good) => async (id, section, options) => {
    const outcome = await good.withLock(id, section, options);
    options.observer?.notify({ type: "released", resourceId: id, adapter: "broken", elapsedMs: 0 });
    return outcome;
  }),
  tellsNoObserver: changed(
    (good) => (id, section, options) => good.withLock(id, section, without(options, "observer")),
  ),
  refusesWhatWithLocksTakes: changed(
    (good) => (id, section, options) => good.withLock(id, section, without(options, "alongside")),
  ),
  givesEveryLockBackAtOnce: changed(
    (good) => (id, section, options) => good.withLock(id, section, without(options, "lockAtLeastFor")),
  ),
  answersWhenTheTimeIsOver: changed(
    (good) => (id, section, options) => good.withLock(id, section, { ...options, release: "await" }),
  ),
  keepsWhatWasTakenInVain: changed((good) => (id, section, options) => {
    const { alongside } = options;
    const kept = alongside && { alongside: { ...alongside, hasBegun: () => true } };
    return good.withLock(id, section, { ...options, ...kept });
  }),
  letsOneMoreIn: changed(
    (good) => (id, section, options) =>
      good.withLock(
        id,
        section,
        withPermits(options, (permits) => permits + 1),
      ),
  ),
  lendsOneSlotLess: changed(
    (good) => (id, section, options) =>
      good.withLock(
        id,
        section,
        withPermits(options, (permits) => permits - 1 || 1),
      ),
  ),
  losesASlotForEver: changed((good) => (id, section, options) => {
    if (options.permits === undefined) return good.withLock(id, section, options);
    return new Promise((resolve, reject) => {
      const stuck = (hold: LockHold) => {
        const outcome = (async () => section(hold))();
        outcome.then(resolve, reject);
        return outcome.catch(() => new Promise<never>(() => {}));
      };
      good.withLock(id, stuck, options).catch(reject);
    });
  }),
  givesTheSameFenceToTwo: changed(
    (good) => (id, section, options) =>
      good.withLock(id, (hold) => section(withHold(hold, { fencingToken: hold.fencingToken / 2n })), options),
  ),
  numbersAllSlotsAlike: changed(
    (good) => (id, section, options) =>
      good.withLock(
        id,
        (hold) => section(options.permits === undefined ? hold : withHold(hold, { slot: 1 })),
        options,
      ),
  ),
  ignoresDisagreement: changed(
    (good) => (id, section, options) =>
      good.withLock(
        `${id}/${options.permits ?? ""}`,
        (hold) => section(withHold(hold, { resourceId: id })),
        options,
      ),
  ),
  refusesHurriedCallersWithoutALook: (): LockProvider => {
    const good = new MemoryLockProvider();
    let asking = 0;
    return {
      withLock: async (id, section, options = {}) => {
        if (options.permits !== undefined && options.timeout === 0 && asking > 0)
          throw new LockTimeoutError(id, 0, { timeout: 0, source: "the caller" });
        asking += 1;
        const entered = (hold: LockHold) => {
          asking -= 1;
          return section(hold);
        };
        return good.withLock(id, entered, options);
      },
    };
  },
  servesSlotsInNoOrder: (): LockProvider => {
    const good = new MemoryLockProvider();
    let callers = 0;
    return {
      withLock: async (id, section, options = {}) => {
        if (options.permits !== undefined && (callers += 1) % 2 === 1)
          await new Promise((resolve) => setTimeout(resolve, 30));
        return good.withLock(id, section, options);
      },
    };
  },
  stopsASectionThatIsCancelled: changed(
    (good) => (id, section, options) =>
      good.withLock(
        id,
        (hold) => {
          const stopped = new Promise<never>((_, reject) =>
            options.signal?.addEventListener("abort", () => reject(new LockCancelledError(id, 0)), {
              once: true,
            }),
          );
          return Promise.race([section(hold), stopped]);
        },
        options,
      ),
  ),
};
