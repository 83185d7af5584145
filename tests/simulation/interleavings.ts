/**
 * Runs asynchronous code of several processes one visible step at a time, in every order, with a crash before any step.
 *
 * Each run starts afresh and follows a list of choices. A state is the shared memory and what each process has seen so
 * far; code that saw the same does the same, so a state met before is not explored again.
 */
export interface Model<Shared> {
  readonly shared: () => Shared;
  /** All of the shared memory, as text. */
  readonly describe: (shared: Shared) => string;
  readonly processes: readonly ((steps: Steps<Shared>) => Promise<void>)[];
  readonly mostCrashes: number;
  /** Everything is gone through in either order; a mistake of the last process is found sooner in this one. */
  readonly lastFirst?: boolean;
  /** Called once before a crashed process is left for good. */
  readonly onCrash: (shared: Shared, process: number) => void;
  /** After each step: what must never be, in words, or null. */
  readonly violation: (shared: Shared) => string | null;
  /** When nobody can take a step any more. */
  readonly atTheEnd?: (shared: Shared) => Promise<string | null>;
}

export interface Steps<Shared> {
  /** One atomic step, seen by all. Whatever it returns must be plain data. */
  take<T>(label: string, effect: (shared: Shared) => T): Promise<T>;
  /** A note in the model itself, which no process sees; part of the step before. */
  now(effect: (shared: Shared) => void): void;
}

export interface Exploration {
  readonly states: number;
  readonly ends: number;
  /** The steps that lead to the first violation found, and the violation. */
  readonly failure: { readonly steps: readonly string[]; readonly what: string } | null;
}

interface Choice {
  readonly process: number;
  readonly crash: boolean;
}

export async function exploreAll<Shared>(model: Model<Shared>): Promise<Exploration> {
  const seen = new Set<string>();
  const histories = new Histories();
  const open: Choice[][] = [[]];
  let ends = 0;
  for (let prefix = open.pop(); prefix !== undefined; prefix = open.pop()) {
    const run = new Run(model, histories);
    await run.start();
    for (const choice of prefix) await run.choose(choice);
    const path = [...prefix];
    for (;;) {
      const what = model.violation(run.shared);
      if (what !== null) return { states: seen.size, ends, failure: { steps: run.trace, what } };
      const state = run.describe();
      if (seen.has(state)) break;
      seen.add(state);
      const choices = run.choices();
      const [first, ...others] = model.lastFirst === true ? choices.reverse() : choices;
      if (first === undefined) {
        ends++;
        const wrong = (await model.atTheEnd?.(run.shared)) ?? null;
        if (wrong !== null) return { states: seen.size, ends, failure: { steps: run.trace, what: wrong } };
        break;
      }
      for (const other of others) open.push([...path, other]);
      path.push(first);
      await run.choose(first);
    }
  }
  return { states: seen.size, ends, failure: null };
}

/** Numbers for "this history, then this step with this result", so that a state stays a short text. */
class Histories {
  private readonly numbers = new Map<string, number>();

  after(history: number, step: string): number {
    const key = `${history} ${step}`;
    const known = this.numbers.get(key);
    if (known !== undefined) return known;
    this.numbers.set(key, this.numbers.size + 1);
    return this.numbers.size;
  }
}

interface Actor {
  history: number;
  state: "running" | "done" | "crashed";
  error: Error | undefined;
  pending: { readonly label: string; readonly perform: () => void } | undefined;
}

class Run<Shared> {
  readonly shared: Shared;
  readonly trace: string[] = [];
  private readonly actors: Actor[];
  private crashes = 0;

  constructor(
    private readonly model: Model<Shared>,
    private readonly histories: Histories,
  ) {
    this.shared = model.shared();
    this.actors = model.processes.map(() => ({
      history: 0,
      state: "running",
      error: undefined,
      pending: undefined,
    }));
  }

  async start(): Promise<void> {
    for (const [index, actor] of this.actors.entries()) {
      const finish = () => void (actor.state = "done");
      const steps = {
        take: this.takeFor(actor),
        now: (effect: (shared: Shared) => void) => effect(this.shared),
      };
      this.model.processes[index]!(steps).then(finish, (error: Error) => (actor.error = error));
      await this.settled(actor);
    }
  }

  choices(): Choice[] {
    const choices: Choice[] = [];
    for (const [process, actor] of this.actors.entries()) {
      if (actor.state !== "running") continue;
      choices.push({ process, crash: false });
      if (this.crashes < this.model.mostCrashes) choices.push({ process, crash: true });
    }
    return choices;
  }

  async choose({ process, crash }: Choice): Promise<void> {
    const actor = this.actors[process]!;
    if (crash) {
      this.crashes++;
      actor.state = "crashed";
      this.trace.push(`${process} crashes`);
      this.model.onCrash(this.shared, process);
      return;
    }
    const { label, perform } = actor.pending!;
    actor.pending = undefined;
    this.trace.push(`${process} ${label}`);
    perform();
    await this.settled(actor);
  }

  describe(): string {
    const actors = this.actors.map(({ history, state }) => `${history}${state[0]}`).join(" ");
    return `${actors} | ${this.model.describe(this.shared)}`;
  }

  private takeFor(actor: Actor): Steps<Shared>["take"] {
    return (label, effect) =>
      new Promise((resolve) => {
        actor.pending = {
          label,
          perform: () => {
            const result = effect(this.shared);
            actor.history = this.histories.after(actor.history, `${label} ${JSON.stringify(result)}`);
            resolve(result);
          },
        };
      });
  }

  /** Code between two steps needs some turns of the microtask queue, and nothing else. */
  private async settled(actor: Actor): Promise<void> {
    for (let turn = 0; turn < 1000; turn++) {
      if (actor.error !== undefined) throw actor.error;
      if (actor.pending !== undefined || actor.state === "done") return;
      await Promise.resolve();
    }
    throw new Error("a process neither takes a step nor ends");
  }
}
