import { spawn } from "node:child_process";
import { once } from "node:events";
import { MemoryLockProvider } from "../../src/infrastructure/locking/memory/memory-lock-provider";
import { LinedLockProvider } from "../../src/infrastructure/locking/line/lined-lock-provider";
import type { LockBackend, Tenure } from "../../src/infrastructure/locking/lock-backend";
import { LockLostError } from "../../src/application/ports/lock-errors";
import type { LockProvider } from "../../src/application/ports/lock-provider";
import type { LockContractLayer, OpenedLocks } from "../../src/lock-contract";
import { broken } from "../support/fakes/broken-lock-providers";
import { failedTests } from "../support/failed-contract-tests";
import { FakeLockServer } from "../support/fakes/fake-lock-backend";
import { typescriptChild } from "../support/children/typescript-child";
import { size } from "../support/test-size";

type Defect = keyof typeof broken;

/** A defect, and the promise that has to be seen broken. */
const CAUGHT: readonly [Defect, LockContractLayer, string][] = [
  [
    "neverReleasesAfterAnError",
    "lends",
    "the provider releases after a normal end, a rejection and a synchronous throw alike",
  ],
  ["neverReleasesAfterAnError", "keeps callers apart", "lets the next one in after a rejection"],
  ["wantsAPromise", "lends", "the provider runs a section that is not asynchronous"],
  ["wrapsTheSectionsError", "lends", "the provider gives back the section's own error, unchanged"],
  ["throwsSynchronously", "lends", "turns a synchronous throw into a rejection"],
  ["throwsSynchronously", "keeps callers apart", "lets the next one in after a rejection"],
  ["sharesIdsThatDifferInCase", "keeps callers apart", "takes every id literally"],
  ["sharesIdsThatDifferAtTheEdges", "keeps callers apart", "takes every id literally"],
  ["sharesIdsThatNormalizeAlike", "keeps callers apart", "takes every id literally"],
  ["sharesLongIds", "keeps callers apart", "takes every id literally"],
  ["sharesIdsThatResolveToOnePath", "keeps callers apart", "takes every id literally"],
  ["sharesAllIds", "keeps callers apart", "lets sections of different ids pass each other"],
  ["servesTheLastFirst", "keeps callers apart", "in the order in which they came"],
  ["deadlocksWhenTakenAgain", "lends", "refuses to lend from inside one of its holds"],
  [
    "runsTheSectionOfACancelledWaiter",
    "keeps callers apart",
    "rejects a cancelled waiter with LockCancelledError",
  ],
  ["runsTheSectionOfACancelledWaiter", "keeps callers apart", "forgets who gave up"],
  [
    "ignoresCancellation",
    "lends",
    "the provider never begins the section of a caller who was cancelled before",
  ],
  ["ignoresCancellation", "keeps callers apart", "rejects a cancelled waiter with LockCancelledError"],
  ["ignoresTheTimeout", "keeps callers apart", "rejects with LockTimeoutError when the budget runs out"],
  ["waitsALittleOnASingleAttempt", "keeps callers apart", "makes one attempt with timeout 0"],
  ["callsContentionUnavailable", "keeps callers apart", "makes one attempt with timeout 0"],
  [
    "keepsListeningToTheSignal",
    "keeps callers apart",
    "the provider keeps no listener on a signal whose wait has ended well",
  ],
  ["keepsListeningToTheSignal", "keeps callers apart", "keeps no listener on its signal"],
  ["repeatsFencingTokens", "lends", "hands out fencing tokens that grow"],
  [
    "assertsWhatHasEnded",
    "lends",
    "the provider says in assertHeld that the lock is lost once the section has ended",
  ],
  ["letsTheObserverBreakIn", "lends", "lets nothing it throws through"],
  ["tellsNoObserver", "lends", "tells the observer who acquired and released what"],
  ["tellsNoObserver", "keeps callers apart", "the provider tells the observer how each wait began and ended"],
  ["refusesWhatWithLocksTakes", "lends", "lends several ids at once through withLocks"],
  ["refusesWhatWithLocksTakes", "keeps callers apart", "does not lock up when withLocks"],
  ["repeatsFencingTokens", "hands out", "holds until its release"],
  ["deadlocksWhenTakenAgain", "hands out", "refuses to hand out from inside one of its holds"],
  ["ignoresCancellation", "hands out", "hands out nothing to a caller who was cancelled"],
  ["refusesWhatWithLocksTakes", "hands out", "hands out several locks at once"],
  ["ignoresTheTimeout", "can be tried", "answers null to a try while another holder is inside"],
  ["callsContentionUnavailable", "can be tried", "answers null to a try while another holder is inside"],
  ["sharesAllIds", "can be tried", "answers null to a try while another holder is inside"],
  ["ignoresCancellation", "elects", "ends a candidacy that is stopped before it is elected"],
  ["repeatsFencingTokens", "elects", "elects one leader at a time"],
  ["givesEveryLockBackAtOnce", "keeps for a while", "keeps others out until the time is over"],
  ["givesEveryLockBackAtOnce", "keeps for a while", "keeps others out after a section that failed"],
  ["answersWhenTheTimeIsOver", "keeps for a while", "answers when the section has ended"],
  [
    "keepsWhatWasTakenInVain",
    "keeps for a while",
    "keeps nothing that several locks were wanted with in vain",
  ],
  ["letsOneMoreIn", "lends slots", "lets as many in as there are permits"],
  ["letsOneMoreIn", "lends slots", "never has more inside than there are permits"],
  ["lendsOneSlotLess", "lends slots", "lets as many in as there are permits"],
  ["losesASlotForEver", "lends slots", "gets a slot back after a rejection"],
  ["givesTheSameFenceToTwo", "lends slots", "a slot and a fencing token of its own"],
  ["repeatsFencingTokens", "lends slots", "a slot and a fencing token of its own"],
  ["numbersAllSlotsAlike", "lends slots", "a slot and a fencing token of its own"],
  ["ignoresDisagreement", "lends slots", "tells a caller who gives another number"],
  ["refusesHurriedCallersWithoutALook", "lends slots", "as many single attempts at once"],
  ["servesSlotsInNoOrder", "lends slots", "in the order in which they came"],
  ["refusesWhatWithLocksTakes", "lends slots", "lends several ids at once through withLocks"],
  ["givesEveryLockBackAtOnce", "lends slots", "keeps one for a while"],
  ["ignoresCancellation", "lends slots", "leaves no trace of waiters"],
  [
    "stopsASectionThatIsCancelled",
    "lends",
    "the provider ignores the caller's signal once the section has begun",
  ],
];

/** For providers that are expected to pass: they need it only on a machine that is busy with other things. */
const MUCH_PATIENCE_MS = 3_000;
const LITTLE_PATIENCE_MS = 300;

jest.setTimeout(60_000);

describe("the lock contract", () => {
  it.each(CAUGHT)("the lock contract catches a provider that %s (%s: %s)", async (defect, layer, promise) => {
    const failed = await failedTests(layer, () => ({ locks: broken[defect]() }), undefined, promise);
    expect(failed).not.toEqual([]);
  });

  it("the lock contract names every defect that is planted", () => {
    expect(new Set(CAUGHT.map(([defect]) => defect))).toEqual(new Set(Object.keys(broken)));
  });

  it("the lock contract passes the good provider that the broken ones are made of", async () => {
    const open = () => ({ locks: new MemoryLockProvider() });
    expect(await failedTests("lends", open, MUCH_PATIENCE_MS)).toEqual([]);
    for (const layer of [
      "hands out",
      "keeps callers apart",
      "can be tried",
      "keeps for a while",
      "elects",
      "lends slots",
    ] as const)
      expect(await failedTests(layer, open, MUCH_PATIENCE_MS)).toEqual([]);
  });

  it("the lock contract catches a provider that keeps something for ids that nobody wants any more", async () => {
    const ids = new Set<string>();
    const locks = new MemoryLockProvider();
    const leaking: LockProvider = {
      withLock: (id, section, options) => {
        ids.add(id);
        return locks.withLock(id, section, options);
      },
    };
    const failed = await failedTests("lends", () => ({ locks: leaking, leftovers: () => ids.size }));
    expect(failed).toContainEqual(expect.stringContaining("gives back the section's own value"));
  });

  it("the lock contract catches a provider that another process knows nothing of", async () => {
    const failed = await failedTests(
      "keeps processes apart",
      () => ({ locks: new MemoryLockProvider(), child: typescriptChild("memory-lock-child.ts") }),
      MUCH_PATIENCE_MS,
    );
    expect(failed).toEqual(
      expect.arrayContaining([
        expect.stringContaining("of their counting, nothing is lost"),
        expect.stringContaining("refuses a single attempt while another process is inside"),
        expect.stringContaining("leaves no trace of a waiter that timed out"),
      ]),
    );
  });

  it("the lock contract catches a semaphore that another process knows nothing of", async () => {
    const failed = await failedTests(
      "keeps slots apart",
      () => ({ locks: new MemoryLockProvider(), child: typescriptChild("memory-lock-child.ts") }),
      MUCH_PATIENCE_MS,
    );
    expect(new Set(failed)).toEqual(
      new Set([
        "the provider counts the holders of all processes",
        "the provider lets a waiting process in when any of the slots is given back",
        "the provider gets a slot back whose holder is killed, and no more than that",
        "the provider tells two processes that disagree about the permits, and forgets a number that no holder uses",
      ]),
    );
  });

  it.each([...size([["good", 0] as const], []), ["broken", 1] as const])(
    "runs under node:test too: a %s provider ends it with status %i",
    async (provider, status) => {
      const { file, args } = typescriptChild("lock-contract-under-node-test.ts", provider);
      const child = spawn(file, args, { stdio: "ignore" });
      const [code] = await once(child, "close");
      expect(code).toBe(status);
    },
  );

  describe("for leases", () => {
    type TenureChange = (tenure: Tenure, server: FakeLockServer, id: string) => Partial<Tenure>;

    /** The layer's failures on a backend whose tenures have something replaced. */
    const failuresWith = (
      change: TenureChange,
      wrap: (locks: LinedLockProvider) => LockProvider = (locks) => locks,
      patienceMs = MUCH_PATIENCE_MS,
    ): Promise<string[]> => {
      const open = (): OpenedLocks => {
        const server = new FakeLockServer();
        const backend = server.backend();
        const changedBackend: LockBackend = {
          adapter: "changed",
          attempt: async (id, request) => {
            const answer = await backend.attempt(id, request);
            if (answer.kind !== "acquired") return answer;
            return { kind: "acquired", tenure: { ...answer.tenure, ...change(answer.tenure, server, id) } };
          },
          close: () => backend.close(),
        };
        return {
          locks: wrap(new LinedLockProvider(changedBackend)),
          lease: {
            another: () => new LinedLockProvider(server.backend("process-2")),
            lose: (id) => server.expire(id),
            failReleases: () =>
              void (backend.beforeRelease = () => Promise.reject(new Error("release failed"))),
          },
        };
      };
      return failedTests("honours its lease", open, patienceMs);
    };

    describe("and slots", () => {
      /** The layer's failures where the locks behind the slots have something replaced. */
      const slotFailuresWith = (change: TenureChange, patienceMs = MUCH_PATIENCE_MS): Promise<string[]> => {
        const open = (): OpenedLocks => {
          const server = new FakeLockServer();
          const backend = server.backend();
          const attempt = backend.attempt.bind(backend);
          backend.attempt = async (id, request) => {
            const answer = await attempt(id, request);
            if (answer.kind !== "acquired") return answer;
            return { kind: "acquired", tenure: { ...answer.tenure, ...change(answer.tenure, server, id) } };
          };
          return {
            locks: new LinedLockProvider(backend),
            lease: {
              another: () => new LinedLockProvider(server.backend("process-2")),
              lose: (id) => server.expire(id),
              failReleases: () => {},
            },
          };
        };
        return failedTests("honours the lease of a slot", open, patienceMs);
      };

      it("the lock contract for leases passes good slots", async () => {
        expect(await slotFailuresWith(() => ({}))).toEqual([]);
      });

      it.each([
        ["a loss that is not told", () => ({ lost: new AbortController().signal })],
        ["a loss that assertHeld does not see", () => ({ assertHeld: () => {} })],
        [
          "a stale holder that frees its successor",
          (_: Tenure, server: FakeLockServer, id: string) => ({
            release: async () => void server.held.delete(id),
          }),
        ],
      ])("the lock contract for leases catches %s in a slot", async (_, change) => {
        expect(await slotFailuresWith(change, LITTLE_PATIENCE_MS)).toHaveLength(1);
      });
    });

    it("the lock contract for leases passes a good one", async () => {
      expect(await failuresWith(() => ({}))).toEqual([]);
    });

    it("the lock contract for leases catches a stale holder that frees its successor", async () => {
      const failed = await failuresWith((_, server, id) => ({
        release: async () => void server.held.delete(id),
      }));
      expect(failed).toEqual(["the provider does not let a stale holder free its successor"]);
    });

    it("the lock contract for leases catches a loss that fires no signal", async () => {
      // It hangs: the signal is waited for in vain however long that is.
      const change = () => ({ lost: new AbortController().signal });
      const failed = await failuresWith(change, undefined, LITTLE_PATIENCE_MS);
      expect(failed).toContainEqual(expect.stringContaining("fires the hold's signal"));
    });

    it("the lock contract for leases catches a loss that assertHeld does not see", async () => {
      const failed = await failuresWith(() => ({ assertHeld: () => {} }));
      expect(failed).toContainEqual(expect.stringContaining("fails assertHeld when the lock is lost"));
    });

    it("the lock contract for leases catches a provider that rejects a finished section because its lock was lost", async () => {
      const failed = await failuresWith(
        () => ({}),
        (locks) => ({
          withLock: (id, section, options) =>
            locks.withLock(
              id,
              async (hold) => {
                const outcome = await section(hold);
                if (hold.signal.aborted) throw new LockLostError(id, "lost");
                return outcome;
              },
              options,
            ),
        }),
      );
      expect(failed).toContain("the provider lets the outcome of a section stand whose lock was lost");
    });

    it("the lock contract for leases catches a failing release that masks what the section said", async () => {
      let release: () => Promise<void> = async () => {};
      const failed = await failuresWith(
        (tenure) => ({ release: async () => void (release = tenure.release) }),
        (locks) => ({
          withLock: async (id, section, options) => {
            const outcome = await locks.withLock(id, section, options);
            await release();
            return outcome;
          },
        }),
      );
      expect(failed).toContain(
        "the provider masks nothing when the release fails: the section's value and error stand",
      );
    });
  });
});
