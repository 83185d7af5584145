/**
 * A small model of one payment, explored to the last state: every order in which two captures with keys of their own, a
 * retry and the reconciler can read, write, send, ask and die, and in which the gateway's requests can land, late or
 * never. The gateway is the naive one: it honours a key, and captures again under another.
 */
export interface ModelRules {
  readonly locked: boolean;
  /** How often the reconciler comes by. */
  readonly reconcilerTurns: number;
  /** How many processes may die, in all. */
  readonly crashes: number;
  /** The planted bug: "the gateway does not know this key" closes the operation. */
  readonly absenceCloses: boolean;
}

export interface Verdict {
  readonly states: number;
  /** The steps to the first state in which something is wrong; null if there is none. */
  readonly violation: readonly string[] | null;
}

type Key = "a" | "b";
type OperationState = "none" | "open" | "succeeded" | "failed";

/** Where a process is. */
interface Process {
  readonly name: string;
  /** The key it came with; null for the reconciler, which takes what is open. */
  readonly key: Key | null;
  readonly at: "outside" | "read" | "write" | "ask" | "claim" | "send" | "receive" | "settle" | "done";
  /** Nobody has written the payment since it read it. Stands for the version, which would never repeat. */
  readonly fresh: boolean;
  /** The operation it is working on. */
  readonly on: Key | null;
  readonly resending: boolean;
  /** Turns left; a caller comes once, the reconciler may come again. */
  readonly turns: number;
  readonly told: "" | "captured" | "other";
}

interface State {
  readonly operations: Readonly<Record<Key, OperationState>>;
  /** What the gateway has recorded, and what is on its way to it (a second copy of a key changes nothing). */
  readonly recorded: readonly Key[];
  readonly inFlight: readonly Key[];
  readonly moved: number;
  readonly holder: string | null;
  readonly crashes: number;
  readonly processes: readonly Process[];
}

interface Move {
  readonly label: string;
  readonly to: State;
}

export function explore(rules: ModelRules): Verdict {
  const start: State = {
    operations: { a: "none", b: "none" },
    recorded: [],
    inFlight: [],
    moved: 0,
    holder: null,
    crashes: rules.crashes,
    processes: [
      caller("first", "a"),
      caller("second", "b"),
      caller("retry", "a"),
      reconciler(rules.reconcilerTurns),
    ],
  };
  const seen = new Set<string>([textOf(start)]);
  const queue: { state: State; path: Path | null }[] = [{ state: start, path: null }];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const wrong = wrongIn(next.state);
    if (wrong !== null) return { states: seen.size, violation: [...stepsOf(next.path), wrong] };
    for (const { label, to } of movesFrom(next.state, rules)) {
      const id = textOf(to);
      if (seen.has(id)) continue;
      seen.add(id);
      queue.push({ state: to, path: { label, before: next.path } });
    }
  }
  return { states: seen.size, violation: null };
}

/** What can differ between two states; the processes have their places. */
function textOf({ operations, recorded, inFlight, moved, holder, crashes, processes }: State): string {
  const about = processes.map(
    ({ at, fresh, on, resending, turns, told }) => `${at} ${fresh} ${on} ${resending} ${turns} ${told}`,
  );
  return [operations.a, operations.b, recorded, "sent", inFlight, moved, holder, crashes, ...about].join();
}

interface Path {
  readonly label: string;
  readonly before: Path | null;
}

function stepsOf(path: Path | null): string[] {
  const steps: string[] = [];
  for (let step = path; step !== null; step = step.before) steps.unshift(step.label);
  return steps;
}

/** What must never be: money moved twice, a success nobody paid for, an end that the gateway's record denies. */
function wrongIn({ moved, operations, recorded, processes }: State): string | null {
  if (moved > 1) return "money moved twice";
  for (const key of ["a", "b"] as const) {
    if (operations[key] === "succeeded" && !recorded.includes(key))
      return `${key} succeeded without the gateway`;
  }
  if (processes.some(({ told }) => told === "captured") && moved === 0)
    return "told captured, but nothing moved";
  return null;
}

function movesFrom(state: State, rules: ModelRules): Move[] {
  const moves: Move[] = [];
  // The network: a request lands at any time after it was sent, or is lost.
  state.inFlight.forEach((key, at) => {
    const inFlight = state.inFlight.filter((_, other) => other !== at);
    moves.push({ label: `${key} lands`, to: landed({ ...state, inFlight }, key) });
    moves.push({ label: `${key} is lost`, to: { ...state, inFlight } });
  });
  for (const process of state.processes) {
    if (process.at === "done") continue;
    moves.push(...stepsOfProcess(state, process, rules));
    if (state.crashes > 0 && process.at !== "outside") {
      const dead: Process = { ...process, at: "done", told: "" };
      const without = replace({ ...state, crashes: state.crashes - 1 }, dead);
      moves.push({ label: `${process.name} dies`, to: released(without, process) });
    }
  }
  return moves;
}

function stepsOfProcess(state: State, process: Process, rules: ModelRules): Move[] {
  const { name, on } = process;
  const go = (label: string, to: Partial<Process>, change: Partial<State> = {}): Move => ({
    label: `${name} ${label}`,
    to: replace({ ...state, ...change }, { ...process, ...to }),
  });
  const write = (label: string, to: Partial<Process>, operations = state.operations): Move =>
    go(label, { ...to, fresh: true }, { operations, processes: state.processes.map(outdated) });
  const leave = (label: string, told: Process["told"] = "other"): Move => {
    const turns = process.turns - 1;
    const left: Process = {
      ...process,
      at: turns > 0 ? "outside" : "done",
      turns,
      told,
      on: null,
      resending: false,
    };
    return { label: `${name} ${label}`, to: released(replace(state, left), process) };
  };
  switch (process.at) {
    case "outside":
      if (rules.locked && state.holder !== null) return [];
      return [go("enters", { at: "read" }, rules.locked ? { holder: name } : {})];
    case "read":
      return [decided(state, process, go, leave)];
    case "write": {
      // The version check and "one open operation" refuse it together; either makes it decide anew.
      if (!process.fresh || openKey(state) !== null) return [go("conflicts", { at: "read" })];
      const operations = { ...state.operations, [on as Key]: "open" as const };
      return [write("writes its intent", { at: "send" }, operations)];
    }
    case "ask": {
      if (state.recorded.includes(on as Key)) return [go("finds it", { at: "settle", resending: false })];
      if (!rules.absenceCloses) return [go("finds nothing", { at: "claim" })];
      if (!process.fresh) return [go("conflicts", { at: "read" })];
      const operations = { ...state.operations, [on as Key]: "failed" as const };
      return [write("closes it for absence", { at: "read" }, operations)];
    }
    case "claim":
      if (!process.fresh) return [leave("is overtaken")];
      return [write("claims the resend", { at: "send", resending: true })];
    case "send":
      return [
        go("sends", { at: "receive" }, { inFlight: [...new Set([...state.inFlight, on as Key])].sort() }),
      ];
    case "receive": {
      const gaveUp = leave("hears nothing in time");
      return state.recorded.includes(on as Key)
        ? [go("gets its answer", { at: "settle" }), gaveUp]
        : [gaveUp];
    }
    case "settle": {
      // Applied to the row as it is now: whoever settles second finds it done.
      const operations = { ...state.operations, [on as Key]: "succeeded" as const };
      const settled = { ...state, operations, processes: state.processes.map(outdated) };
      const turns = process.turns - 1;
      const told = process.key === on ? "captured" : "other";
      // Another key's operation that `find` resolved: start over, as after any change.
      if (process.key !== null && process.key !== on && !process.resending) {
        return [{ label: `${name} settles`, to: replace(settled, { ...process, at: "read", on: null }) }];
      }
      const left: Process = {
        ...process,
        at: turns > 0 ? "outside" : "done",
        turns,
        told,
        on: null,
        resending: false,
      };
      return [{ label: `${name} settles`, to: released(replace(settled, left), process) }];
    }
    case "done":
      return [];
  }
}

/** DECIDE, in the order of the published table. */
function decided(
  state: State,
  process: Process,
  go: (label: string, to: Partial<Process>) => Move,
  leave: (label: string, told?: Process["told"]) => Move,
): Move {
  const fresh = true;
  const open = openKey(state);
  const { key } = process;
  if (key !== null && state.operations[key] === "succeeded") return leave("replays", "captured");
  if (key !== null && state.operations[key] === "failed") return leave("replays a failure");
  if (open !== null) return go(`sees ${open} open`, { at: "ask", on: open, fresh, resending: false });
  if (key === null) return leave("has nothing to do");
  if (Object.values(state.operations).includes("succeeded")) return leave("is told that it is captured");
  return go("decides to capture", { at: "write", on: key, fresh, resending: false });
}

function landed(state: State, key: Key): State {
  if (state.recorded.includes(key)) return state;
  return { ...state, recorded: [...state.recorded, key].sort(), moved: state.moved + 1 };
}

function openKey({ operations }: State): Key | null {
  return operations.a === "open" ? "a" : operations.b === "open" ? "b" : null;
}

function replace(state: State, process: Process): State {
  return {
    ...state,
    processes: state.processes.map((other) => (other.name === process.name ? process : other)),
  };
}

/** What it has read is no longer what is stored. */
function outdated(process: Process): Process {
  return { ...process, fresh: false };
}

function released(state: State, { name }: Process): State {
  return state.holder === name ? { ...state, holder: null } : state;
}

function caller(name: string, key: Key): Process {
  return { name, key, at: "outside", fresh: false, on: null, resending: false, turns: 1, told: "" };
}

function reconciler(turns: number): Process {
  return {
    name: "reconciler",
    key: null,
    at: "outside",
    fresh: false,
    on: null,
    resending: false,
    turns,
    told: "",
  };
}
