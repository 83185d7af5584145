import type { Answer, JestWorker, Recorded, Run } from "./jest-worker";
import type { Remembered } from "./remembered";

interface CoveredBy {
  readonly file: string;
  readonly tests?: readonly number[];
  readonly estimateMs: number;
  readonly limitMs: number;
}

/** Tests that take longer are for the storms and the simulators: a mutant is not tried against them. */
const MOST_FILE_MS = 240_000;
/** Loading the program for a file. */
const LOAD_MS = 150;
/** Where it is too short, for the machine is busy, the same test without the mutant shows it. */
const LEAST_LIMIT_MS = 3_000;

/** Which tests come to which mutant, and how long they take. */
export class Coverage {
  readonly failedWithoutMutant: string[] = [];
  private readonly byMutant = new Map<number, CoveredBy[]>();
  /** How often a test file has found a mutant of a source. */
  private readonly finds = new Map<string, number>();

  /** `mostMs`: what all tests of one mutant may take, the quick ones first. */
  constructor(
    private readonly remembered: Remembered<Answer<Recorded>>,
    private readonly mostMs: number,
  ) {}

  async record(worker: JestWorker, file: string): Promise<void> {
    const answer = await this.remembered.of(
      file,
      () => worker.record(file, MOST_FILE_MS),
      (found) => found !== "did not answer" && !found.failed,
    );
    if (answer === "did not answer" || answer.failed) {
      const why = answer === "did not answer" ? answer : (answer.failedTest ?? "could not be loaded");
      this.failedWithoutMutant.push(`${file}: ${why}`);
      return worker.stop();
    }
    for (const [mutant, tests] of answer.recorded) {
      const isOutside = tests.includes(-1);
      const times = answer.tookMs.map((ms) => ms ?? 0);
      const chosen = isOutside ? times : tests.map((index) => times[index] ?? 0);
      const estimateMs = LOAD_MS + chosen.reduce((sum, ms) => sum + ms, 0);
      const limitMs = Math.max(LEAST_LIMIT_MS, 4 * Math.max(0, ...chosen));
      const covered = { file, estimateMs, limitMs, ...(!isOutside && { tests }) };
      this.byMutant.set(mutant, [...(this.byMutant.get(mutant) ?? []), covered]);
    }
  }

  /** First what has found mutants of this source before, then what is quick. */
  runsFor(mutant: number, source: string): { readonly runs: readonly Run[]; readonly estimateMs: number } {
    const finds = (covered: CoveredBy): number => this.finds.get(`${source} ${covered.file}`) ?? 0;
    const value = (covered: CoveredBy): number => (1 + finds(covered)) / covered.estimateMs;
    const sorted = [...(this.byMutant.get(mutant) ?? [])].sort((a, b) => value(b) - value(a));
    const runs: CoveredBy[] = [];
    let estimateMs = 0;
    for (const covered of sorted) {
      if (runs.length > 0 && estimateMs + covered.estimateMs > this.mostMs) continue;
      runs.push(covered);
      estimateMs += covered.estimateMs;
    }
    return { runs, estimateMs };
  }

  noteFind(source: string, file: string): void {
    const key = `${source} ${file}`;
    this.finds.set(key, (this.finds.get(key) ?? 0) + 1);
  }
}
