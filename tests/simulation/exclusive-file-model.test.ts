import { UnusableLockFileError } from "../../src/infrastructure/locking/file/file-lock-errors";
import {
  removeExclusively,
  takeExclusively,
  type ExclusiveLockParts,
} from "../../src/infrastructure/locking/file/exclusive-create/exclusive-lock";
import type { LockFiles } from "../../src/infrastructure/locking/file/on-disk/lock-files";
import {
  parseRecord,
  serializeRecord,
  type LockRecord,
} from "../../src/infrastructure/locking/file/on-disk/lock-record";
import { testAtFullSize } from "../support/servers/servers";
import { size } from "../support/test-size";
import { exploreAll, type Exploration, type Steps } from "./interleavings";

/** The lock, a disk that holds a few files, and who is alive and inside. */
interface Disk {
  readonly files: Map<string, string>;
  readonly dead: Set<number>;
  readonly inside: Set<number>;
  crime: string | null;
}

const LOCK = "L";
/** Died long ago, holding the lock. */
const LONG_DEAD = 90;
const OPERATOR = 50;

function recordOf(pid: number): LockRecord {
  return {
    pid,
    host: "here",
    pidNamespace: null,
    bootId: null,
    startTime: null,
    resourceId: LOCK,
    nonce: `n${pid}`,
    task: null,
    since: "2026-11-18T09:00:00.000Z",
    childPid: null,
    childStartTime: null,
    released: false,
  };
}

/** There are few contents, and each is looked at after each step. */
const owners = new Map<string, number | null>();

function ownerOf(content = ""): number | null {
  const known = owners.get(content);
  if (known !== undefined) return known;
  const record = parseRecord(content);
  const owner = typeof record === "string" ? null : record.pid;
  owners.set(content, owner);
  return owner;
}

/** The lock's own code runs over this: each filesystem call, and each look whether a process lives, is one step. */
function partsOf(pid: number, steps: Steps<Disk>): ExclusiveLockParts {
  const guard = (disk: Disk, path: string): void => {
    const owner = ownerOf(disk.files.get(path));
    const mayGo = owner === null || owner === pid || disk.dead.has(owner) || pid === OPERATOR;
    if (!mayGo) disk.crime = `process ${pid} took away ${path} of process ${owner}, which is alive`;
  };
  return {
    files: {
      read: (path) => steps.take(`reads ${path}`, (disk) => disk.files.get(path) ?? null),
      create: (path, content) =>
        steps.take(`links ${path}`, (disk) => {
          if (disk.files.has(path)) return false;
          disk.files.set(path, content);
          return true;
        }),
      replace: (path, content) =>
        steps.take(`renames over ${path}`, (disk) => {
          guard(disk, path);
          disk.files.set(path, content);
        }),
      remove: (path) =>
        steps.take(`unlinks ${path}`, (disk) => {
          guard(disk, path);
          disk.files.delete(path);
        }),
      setAside: (path) => steps.take(`copies ${path}`, () => {}),
    },
    fateOf: async ({ pid: other }) =>
      other === LONG_DEAD
        ? "gone"
        : steps.take(`looks for process ${other}`, (disk) => (disk.dead.has(other) ? "gone" : "alive")),
  };
}

type Sabotage = (parts: ExclusiveLockParts) => ExclusiveLockParts;

/** Tries a few times, works inside for one step, and releases. */
function worker(pid: number, attempts: number, sabotage: Sabotage) {
  return async (steps: Steps<Disk>): Promise<void> => {
    const parts = sabotage(partsOf(pid, steps));
    const own = recordOf(pid);
    for (let attempt = 0; attempt < attempts; attempt++) {
      if (!(await isTaken(parts, own))) continue;
      steps.now((disk) => disk.inside.add(pid));
      await steps.take("leaves", (disk) => void disk.inside.delete(pid));
      await release(parts, own, steps);
      return;
    }
  };
}

async function isTaken(parts: ExclusiveLockParts, own: LockRecord): Promise<boolean> {
  try {
    return (await takeExclusively(parts, LOCK, own)).taken;
  } catch (error) {
    if (error instanceof UnusableLockFileError) return false;
    throw error;
  }
}

async function release(parts: ExclusiveLockParts, own: LockRecord, steps: Steps<Disk>): Promise<void> {
  for (let tries = 0; tries < 2; tries++) {
    const done = await removeExclusively(parts, LOCK, own, (record) => record.nonce === own.nonce);
    if (done !== "busy") return;
  }
  // Whoever ends without having been able to release leaves the file to the next one's look at its number.
  await steps.take("exits", (disk) => void disk.dead.add(own.pid));
}

interface Scenario {
  readonly processes: number;
  readonly attempts: number;
  readonly crashes: number;
  /** Files there at the start, each by the long dead process. */
  readonly leftOver?: readonly string[];
  /** What a power failure has made of those files. */
  readonly zeros?: boolean;
  readonly sabotage?: Sabotage;
  readonly operator?: boolean;
}

const TWO_INSIDE = /are inside at once/;

function explore(scenario: Scenario): Promise<Exploration> {
  const sabotage = scenario.sabotage ?? ((parts) => parts);
  const workers = Array.from({ length: scenario.processes }, (_, pid) =>
    worker(pid, scenario.attempts, sabotage),
  );
  // Breaks the lock of process 0 as a person might who believes it to be gone.
  const operator = async (steps: Steps<Disk>): Promise<void> => {
    const claim = recordOf(OPERATOR);
    await removeExclusively(partsOf(OPERATOR, steps), LOCK, claim, (record) => record.nonce === "n0");
  };
  return exploreAll<Disk>({
    shared: () => ({
      files: new Map(
        (scenario.leftOver ?? [LOCK]).map((path) => [
          path,
          scenario.zeros === true ? "\0\0" : serializeRecord(recordOf(LONG_DEAD)),
        ]),
      ),
      dead: new Set([LONG_DEAD]),
      inside: new Set(),
      crime: null,
    }),
    describe: ({ files, dead, inside }) =>
      JSON.stringify([
        [...files].map(([path, text]) => [path, ownerOf(text)]).sort(),
        [...dead].sort(),
        [...inside].sort(),
      ]),
    processes: scenario.operator === true ? [...workers, operator] : workers,
    mostCrashes: scenario.crashes,
    onCrash: (disk, process) => {
      disk.dead.add(process < scenario.processes ? process : OPERATOR);
      disk.inside.delete(process);
    },
    violation: ({ inside, crime }) => {
      // A person who breaks a living holder's lock lets the next one in beside it; that is what breaking means.
      if (inside.size > 1 && scenario.operator !== true)
        return `${[...inside].join(" and ")} are inside at once`;
      return scenario.sabotage === undefined ? crime : null;
    },
    atTheEnd: async (disk) =>
      (await nextGetsIn(disk, sabotage)) ? null : "a process that comes alone does not get in",
  });
}

/** Everybody else is gone by then; whatever they left behind must not keep the next one out. */
async function nextGetsIn(disk: Disk, sabotage: Sabotage): Promise<boolean> {
  const alone: Steps<Disk> = {
    now: (effect) => void effect(disk),
    take: async (_label, effect) => effect(disk),
  };
  for (let pid = 0; pid <= OPERATOR; pid++) disk.dead.add(pid);
  return isTaken(sabotage(partsOf(60, alone)), recordOf(60));
}

function overFiles(change: (files: LockFiles, parts: ExclusiveLockParts) => Partial<LockFiles>): Sabotage {
  return (parts) => ({ ...parts, files: { ...parts.files, ...change(parts.files, parts) } });
}

const isBreaker = (path: string) => path.endsWith(".breaking");

describe("an exclusively created lock file whose holder is dead, in every order of steps", () => {
  for (const scenario of [
    { processes: 2, attempts: 2, crashes: size(2, 1) },
    { processes: 2, attempts: 1, crashes: 0, leftOver: [LOCK, "L.breaking", "L.breaking.breaking"] },
    { processes: 3, attempts: 1, crashes: size(1, 0), leftOver: [] },
    { processes: 2, attempts: 1, crashes: 0, zeros: true, leftOver: [LOCK, "L.breaking"] },
    // What the model must find, below, is found without going through these.
    ...size<Scenario[]>(
      [
        { processes: 3, attempts: 1, crashes: 1 },
        { processes: 2, attempts: 2, crashes: 1, leftOver: [LOCK, "L.breaking"] },
        { processes: 2, attempts: 2, crashes: 1, zeros: true },
      ],
      [],
    ),
  ] satisfies Scenario[]) {
    it(`lets one in at a time, and the next one in at the end: ${JSON.stringify(scenario)}`, async () => {
      const { states, failure } = await explore(scenario);
      expect(failure).toBeNull();
      expect(states).toBeGreaterThan(300);
    }, 120_000);
  }

  testAtFullSize("never loses a stranger's file to a holder whose lock a person has broken", async () => {
    expect(
      (await explore({ processes: 2, attempts: 2, crashes: 0, leftOver: [], operator: true })).failure,
    ).toBeNull();
  });
});

describe("the model finds what it must", () => {
  it("two inside, when a file is renamed over after a check of its nonce, with no breaker", async () => {
    const sabotage = overFiles((files) => ({
      create: async (path, content) => (isBreaker(path) ? true : files.create(path, content)),
      read: async (path) => (isBreaker(path) ? null : files.read(path)),
      remove: async (path) => (isBreaker(path) ? undefined : files.remove(path)),
    }));
    const { failure } = await explore({ processes: 2, attempts: 1, crashes: 0, sabotage });
    expect(failure?.what).toMatch(TWO_INSIDE);
  });

  it("two inside, when a dead process's breaker is simply unlinked", async () => {
    const sabotage = overFiles((files, { fateOf }) => ({
      read: async (path) => {
        const content = await files.read(path);
        if (!isBreaker(path) || content === null) return content;
        const record = parseRecord(content);
        if (typeof record === "string" || (await fateOf(record)) !== "gone") return content;
        await files.remove(path);
        return null;
      },
    }));
    const scenario = { processes: 2, attempts: 1, crashes: 0, leftOver: [LOCK, "L.breaking"], sabotage };
    const { failure } = await explore(scenario);
    expect(failure?.what).toMatch(TWO_INSIDE);
  });

  it("two inside, when the file is not read again under the breaker", async () => {
    const sabotage = overFiles((files) => {
      const first = new Map<string, string | null>();
      return {
        read: async (path) => {
          if (path !== LOCK || first.get(path) === undefined) first.set(path, await files.read(path));
          return first.get(path)!;
        },
      };
    });
    const { failure } = await explore({ processes: 2, attempts: 1, crashes: 0, sabotage });
    expect(failure?.what).toMatch(TWO_INSIDE);
  });

  it("a lock that nobody can take any more, when a dead process's breaker is respected for ever", async () => {
    const sabotage: Sabotage = (parts) => ({
      ...parts,
      fateOf: async ({ pid }) => (pid === LONG_DEAD ? "gone" : "alive"),
    });
    const { failure } = await explore({ processes: 1, attempts: 1, crashes: 1, sabotage });
    expect(failure?.what).toMatch(/does not get in/);
  });
});
