import { Coverage } from "./coverage";
import { JestWorker, type Run } from "./jest-worker";
import { Remembered } from "./remembered";
import type { Mutant } from "./switch-mutants";

/** `undecided`: not in time, and neither are the same tests without the mutant: the machine is too busy to tell. */
export type Outcome = "found" | "not in time" | "undecided" | "survived" | "no test";

export interface Verdict<M extends Mutant> {
  readonly mutant: M;
  readonly outcome: Outcome;
  readonly by?: string;
}

interface Limits {
  readonly jobs: number;
  readonly untilMs: number;
  /** For all tests of one mutant. */
  readonly mostMs: number;
}

/** After so many mutants, the tests that found them have to pass without any: a mutant may have left something behind. */
const BETWEEN_CONTROLS = 30;

/** Tries the mutants in their order; those for which there is no time left get no verdict. */
export async function tryMutants<M extends Mutant>(
  sandbox: string,
  files: readonly string[],
  mutants: readonly M[],
  { jobs, untilMs, mostMs }: Limits,
  tell: (text: string) => void,
): Promise<readonly Verdict<M>[]> {
  const begunMs = Date.now();
  const coverage = new Coverage(new Remembered(sandbox), mostMs);
  const toRecord = [...files];
  const workers = Array.from({ length: jobs }, () => new JestWorker(sandbox, files));
  await Promise.all(
    workers.map(async (worker) => {
      for (let file = toRecord.shift(); file !== undefined; file = toRecord.shift())
        await coverage.record(worker, file);
    }),
  );
  for (const failed of coverage.failedWithoutMutant)
    tell(`left out, for it fails without a mutant: ${failed}`);

  tell(`the tests pass without a mutant, in ${Math.round((Date.now() - begunMs) / 1000)} s`);

  const queue = [...mutants];
  const verdicts = new Map<number, Verdict<M>>();
  const work = async (worker: JestWorker): Promise<void> => {
    let window: M[] = [];
    let control = new Map<string, Run>();
    const begin = (): void => {
      window = [];
      control = new Map();
    };
    const check = async (): Promise<void> => {
      // Whether they are quick is not the question.
      const runs = [...control.values()].slice(-6).map((run) => ({ ...run, limitMs: 60_000 }));
      const answer = runs.length === 0 ? {} : await worker.try(0, runs, 300_000);
      if (answer === "did not answer" || answer.killedBy !== undefined) {
        const failed = answer === "did not answer" ? answer : `${answer.killedBy}: ${answer.test ?? ""}`;
        tell(`tried again, for a control without a mutant failed: ${window.length} mutants (${failed})`);
        worker.stop();
        for (const { id } of window) verdicts.delete(id);
        for (const mutant of window)
          if (Date.now() < untilMs) verdicts.set(mutant.id, await tryAlone(mutant));
      }
      begin();
    };
    const tryAlone = async (mutant: M): Promise<Verdict<M>> => {
      const verdict = await tryOne(mutant);
      worker.stop();
      return verdict;
    };
    const tryOne = async (mutant: M): Promise<Verdict<M>> => {
      const { runs, estimateMs } = coverage.runsFor(mutant.id, mutant.file);
      if (runs.length === 0) return { mutant, outcome: "no test" };
      const limitMs = 30_000 + 4 * estimateMs;
      const answer = await worker.try(mutant.id, runs, limitMs);
      if (answer === "did not answer") {
        const at = runs.filter(({ file }) => file === worker.lastFile);
        return tooSlow(mutant, at.length === 0 ? runs : at, limitMs);
      }
      const { killedBy: by, slow } = answer;
      if (by === undefined) return { mutant, outcome: "survived" };
      coverage.noteFind(mutant.file, by);
      const run = runs.find(({ file }) => file === by);
      if (run !== undefined) control.set(by, run);
      if (slow !== true) return { mutant, by, outcome: "found" };
      return tooSlow(mutant, run === undefined ? runs : [run], limitMs);
    };
    const tooSlow = async (mutant: M, runs: readonly Run[], limitMs: number): Promise<Verdict<M>> => {
      // What waits for ever may go on when the next mutant is on.
      worker.stop();
      const without = await worker.try(0, runs, limitMs);
      const isBusy = without === "did not answer" || without.killedBy !== undefined;
      return { mutant, outcome: isBusy ? "undecided" : "not in time" };
    };
    for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
      if (Date.now() > untilMs) break;
      window.push(mutant);
      verdicts.set(mutant.id, await tryOne(mutant));
      if (verdicts.size % 20 === 0) tell(progress(verdicts.values(), mutants.length));
      if (window.length >= BETWEEN_CONTROLS) await check();
    }
    await check();
    worker.stop();
  };
  await Promise.all(workers.map(work));
  return [...verdicts.values()].sort((a, b) => a.mutant.id - b.mutant.id);
}

function progress(verdicts: Iterable<Verdict<Mutant>>, all: number): string {
  const outcomes = [...verdicts].map(({ outcome }) => outcome);
  const open = outcomes.filter((outcome) => outcome === "survived" || outcome === "no test").length;
  return `${outcomes.length} of ${all} tried, ${open} not found`;
}
