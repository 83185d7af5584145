import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { AREAS } from "./areas";
import { refusedByCompiler } from "./compiles";
import { findEqual, nameOf, type EqualMutant } from "./equal-mutants";
import equalMutants from "./equal.json";
import { stopAllWorkers } from "./jest-worker";
import { figureOf, isMissed, missedOf, tableOf, type AreaMutant, type Judged } from "./report";
import { makeSandbox } from "./sandbox";
import type { Mutant } from "./switch-mutants";
import { tryMutants } from "./try-mutants";

// npm run mutation [-- --all] [--area lease] [--file last-renewal] [--tests tests/application] [--percent 8] [--seed 2] [--minutes 30] [--seconds 20] [--jobs 2] [--json out.json] [--again out.json] [--least 90]
// Which mistakes in the sources no test would notice: see "Mutation" in docs/proof.md and docs/adr/0124.

const root = join(__dirname, "../..");

async function main(): Promise<boolean> {
  const { values } = parseArgs({
    options: {
      all: { type: "boolean", default: false },
      area: { type: "string", multiple: true, default: AREAS.map(({ name }) => name) },
      file: { type: "string", default: "" },
      tests: { type: "string", multiple: true },
      percent: { type: "string", default: "10" },
      seed: { type: "string", default: "1" },
      minutes: { type: "string", default: "30" },
      seconds: { type: "string", default: "20" },
      jobs: { type: "string", default: "2" },
      json: { type: "string" },
      again: { type: "string" },
      least: { type: "string" },
    },
  });
  const areas = AREAS.filter(({ name }) => values.area.includes(name));
  const untilMs = values.all ? Infinity : Date.now() + Number(values.minutes) * 60_000;
  const sandbox = makeSandbox(root, AREAS);
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => {
      // A worker whose mutant never lets go of it would not notice that nobody asks any more.
      stopAllWorkers();
      sandbox.remove();
      process.exit(1);
    });
  try {
    const { equal, unmatched } = findEqual(sandbox.mutants, equalMutants as EqualMutant[]);
    for (const { file, line, mutant } of unmatched)
      console.error(`listed as equal, but there is none: ${file}\n    ${line}\n    ${mutant}`);
    if (unmatched.length > 0) return false;

    const mutants = sandbox.mutants.filter(
      ({ area, file }) => areas.some(({ name }) => name === area) && file.includes(values.file),
    );
    const percent = values.all ? 100 : Number(values.percent);
    const chosen =
      values.again === undefined
        ? sampleOf(mutants, percent, Number(values.seed))
        : missedBefore(mutants, values.again);
    console.log(`${chosen.length} of ${mutants.length} mutants, seed ${values.seed}`);
    const files = testFilesOf(sandbox.folder, values.tests ?? areas.flatMap(({ tests }) => tests));
    const limits = { jobs: Number(values.jobs), untilMs, mostMs: Number(values.seconds) * 1_000 };
    const verdicts = await tryMutants(sandbox.folder, files, chosen, limits, (text) => console.log(text));

    const isOpen = ({ outcome }: (typeof verdicts)[number]): boolean =>
      outcome === "survived" || outcome === "no test";
    const open = verdicts.filter((verdict) => isOpen(verdict) && !equal.has(verdict.mutant.id));
    const refused = refusedByCompiler(
      root,
      open.map(({ mutant }) => mutant),
    );
    const judged = verdicts.map((verdict): Judged => {
      const { id } = verdict.mutant;
      return { verdict, isEqual: equal.has(id), isRefused: refused.has(id) };
    });
    const wrong = judged.filter(({ isEqual, verdict: { outcome } }) => isEqual && outcome === "found");
    console.log(`\n${missedOf(judged)}\n\n${tableOf(mutants, judged)}`);
    const undecided = verdicts.filter(({ outcome }) => outcome === "undecided").length;
    if (undecided > 0) console.log(`${undecided} were tried in vain, for the machine was too busy`);
    if (verdicts.length < chosen.length)
      console.log(`${chosen.length - verdicts.length} were not tried, for the time was over`);
    for (const { verdict } of wrong)
      console.error(
        `listed as equal, but ${verdict.by} finds it: ${verdict.mutant.file} ${nameOf(verdict.mutant)}`,
      );
    if (values.json !== undefined)
      writeFileSync(values.json, JSON.stringify(judged.filter(isMissed), null, 1));
    const figure = figureOf(judged);
    const isEnough = values.least === undefined || figure >= Number(values.least);
    if (!isEnough) console.error(`${figure.toFixed(1)} % were found, and ${values.least} % are wanted`);
    return wrong.length === 0 && isEnough;
  } finally {
    sandbox.remove();
  }
}

/** Always the same for a seed, and of each area as large a part. */
function sampleOf(mutants: readonly AreaMutant[], percent: number, seed: number): readonly AreaMutant[] {
  const rankOf = ({ id, lineText, original }: AreaMutant): number => {
    let hash = seed | 0;
    for (const letter of `${id} ${lineText} ${original}`)
      hash = (Math.imul(hash ^ letter.codePointAt(0)!, 0x01000193) + 0x9e3779b9) | 0;
    return ((hash ^ (hash >>> 15)) >>> 0) / 2 ** 32;
  };
  return mutants
    .map((mutant) => ({ mutant, rank: rankOf(mutant) }))
    .sort((a, b) => a.rank - b.rank)
    .slice(0, Math.ceil((mutants.length * percent) / 100))
    .map(({ mutant }) => mutant);
}

/** Those that another run has missed and written down with `--json`: has a new test found them? */
function missedBefore(mutants: readonly AreaMutant[], path: string): readonly AreaMutant[] {
  const missed = JSON.parse(readFileSync(path, "utf8")) as readonly Judged[];
  const keyOf = (mutant: Mutant): string => `${mutant.file}\n${mutant.lineText}\n${nameOf(mutant)}`;
  const keys = new Set(missed.map(({ verdict: { mutant } }) => keyOf(mutant)));
  return mutants.filter((mutant) => keys.has(keyOf(mutant)));
}

function testFilesOf(folder: string, wanted: readonly string[]): readonly string[] {
  const all = readdirSync(join(folder, "tests"), { recursive: true, encoding: "utf8" })
    .map((path) => `tests/${path}`)
    .filter((path) => path.endsWith(".test.ts") && statSync(join(folder, path)).isFile());
  return all
    .filter((path) => wanted.some((start) => path.startsWith(start)))
    .sort()
    .map((path) => join(folder, path));
}

main().then(
  (isGood) => process.exit(isGood ? 0 : 1),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
