import type { LockProvider } from "../../../application/ports/lock-provider";

/** The layers of the contract. Which of them a provider has to pass says what it claims to exclude, and how. */
export type LockContractLayer =
  /** Everybody, also a provider that excludes nobody. */
  | "lends"
  /** Everybody: the same without a callback. */
  | "hands out"
  /** Everybody who excludes at least the callers of one process. */
  | "keeps callers apart"
  /** The same, asked for without an error. */
  | "can be tried"
  /** Everybody who excludes anybody: `lockAtLeastFor`. */
  | "keeps for a while"
  /** Everybody who excludes anybody: `lead`. */
  | "elects"
  /** Everybody who lends semaphores (`permits`) and excludes anybody. */
  | "lends slots"
  /** The same between processes: several OS processes, one killed inside. */
  | "keeps slots apart"
  /** Whose slots can be lost one by one while their holders live. */
  | "honours the lease of a slot"
  /** Whose lock is kept for the rest of that time although its process has ended. */
  | "outlasts its process"
  /** Everybody who excludes other processes: two OS processes, one killed inside. */
  | "keeps processes apart"
  /** Everybody whose lock can be lost while its holder lives. */
  | "honours its lease"
  /** Everybody who keeps a line between processes. */
  | "serves in turn"
  /** Everybody whose backend may fall silent. */
  | "answers in time";

/** A provider in a world of its own, in which nothing is locked. */
export interface OpenedLocks {
  readonly locks: LockProvider;
  /** Ends what was opened. Called once after each test, whatever its outcome. */
  close?(): Promise<void> | void;
  /** How many ids the provider still keeps something for. Checked to come down to 0 after each test, where given. */
  leftovers?(): number;
  /** For "keeps processes apart", "keeps slots apart" and "outlasts its process": starts a process that runs `runLockChild` on the same world. */
  readonly child?: ChildCommand;
  /** For "keeps processes apart" and "keeps slots apart": how long a killed holder may keep others out. Default 5 s. */
  readonly recoveryMs?: number;
  /** For "honours its lease", "honours the lease of a slot" and "serves in turn". */
  readonly lease?: LeaseHarness;
  /** For "answers in time": from here on the backend answers nothing, and connections stay open. */
  silence?(): Promise<void> | void;
}

export interface ChildCommand {
  readonly file: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

export interface LeaseHarness {
  /** Another provider on the same store, as another process would have it. */
  another(): LockProvider | Promise<LockProvider>;
  /** Takes the lock from its holder as the store would after a stall; resolves when others may have it. */
  lose(resourceId: string): Promise<void> | void;
  /** Makes the backend refuse all further releases. */
  failReleases(): Promise<void> | void;
}

/** What a test works with. */
export interface LockContractWorld extends OpenedLocks {
  /** For what is bound to happen: when it runs out, the provider has hung. */
  readonly patienceMs: number;
  /** Called back when the test is over, however it ended: nobody stays inside, or the process would not end. */
  readonly onEnd: (letGo: () => void) => void;
  /** A section whose beginning fails the test, also if the provider keeps it to itself. */
  readonly mustNotRun: () => Promise<never>;
}

export interface LockContractTest {
  readonly layer: LockContractLayer;
  readonly name: string;
  run(world: LockContractWorld): Promise<void>;
}

export const PATIENCE_MS = 10_000;

/** Runs one test of the contract against a provider in a world of its own. */
export async function runLockContractTest(
  test: LockContractTest,
  open: () => OpenedLocks | Promise<OpenedLocks>,
  patienceMs = PATIENCE_MS,
): Promise<void> {
  const opened = await open();
  const letGo: (() => void)[] = [];
  const onEnd = (callback: () => void): void => void letGo.push(callback);
  const forbidden: Error[] = [];
  const mustNotRun = async (): Promise<never> => {
    const violation = new Error("a section began that must not have begun");
    forbidden.push(violation);
    throw violation;
  };
  try {
    await within(patienceMs * 2, test.run({ ...opened, patienceMs, onEnd, mustNotRun }));
    await emptied(opened, patienceMs);
    if (forbidden[0] !== undefined) throw forbidden[0];
  } finally {
    for (const callback of letGo) callback();
    await opened.close?.();
  }
}

async function emptied(opened: OpenedLocks, patienceMs: number): Promise<void> {
  const deadlineMs = performance.now() + patienceMs;
  while (opened.leftovers !== undefined && opened.leftovers() > 0) {
    if (performance.now() > deadlineMs)
      throw new Error(
        `the provider still keeps something for ${opened.leftovers()} ids that nobody wants any more`,
      );
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** Turns a hang into a failure. */
export async function within<T>(limitMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const hung = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing happened within ${limitMs} ms`)), limitMs);
  });
  try {
    return await Promise.race([work, hung]);
  } finally {
    clearTimeout(timer);
  }
}
