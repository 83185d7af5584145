import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { AREAS } from "./areas";
import { compilerOf } from "./compiles";
import { findEqual, nameOf, type EqualMutant } from "./equal-mutants";
import equalMutants from "./equal.json";
import { isMissed, missedOf, tableOf, type AreaMutant, type Judged } from "./report";
import { makeSandbox } from "./sandbox";
import { tryMutants } from "./try-mutants";

// npm run mutation [-- --all] [--area lease] [--file last-renewal] [--tests tests/application] [--percent 8] [--seed 2] [--minutes 30] [--jobs 2] [--json out.json]
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
      jobs: { type: "string", default: "2" },
      json: { type: "string" },
    },
  });
  const areas = AREAS.filter(({ name }) => values.area.includes(name));
  const untilMs = values.all ? Infinity : Date.now() + Number(values.minutes) * 60_000;
  const sandbox = makeSandbox(root, AREAS);
  try {
    const { equal, unmatched } = findEqual(sandbox.mutants, equalMutants as EqualMutant[]);
    for (const { file, line, mutant } of unmatched)
      console.error(`listed as equal, but there is none: ${file}\n    ${line}\n    ${mutant}`);
    if (unmatched.length > 0) return false;

    const mutants = sandbox.mutants.filter(
      ({ area, file }) => areas.some(({ name }) => name === area) && file.includes(values.file),
    );
    const percent = values.all ? 100 : Number(values.percent);
    const chosen = sampleOf(mutants, percent, Number(values.seed));
    console.log(`${chosen.length} of ${mutants.length} mutants, seed ${values.seed}`);
    const files = testFilesOf(sandbox.folder, values.tests ?? areas.flatMap(({ tests }) => tests));
    const limits = { jobs: Number(values.jobs), untilMs };
    const verdicts = await tryMutants(sandbox.folder, files, chosen, limits, (text) => console.log(text));

    const compiles = compilerOf(root);
    const judged = verdicts.map((verdict): Judged => {
      const isEqual = equal.has(verdict.mutant.id);
      const isOpen = verdict.outcome === "survived" || verdict.outcome === "no test";
      return { verdict, isEqual, isRefused: isOpen && !isEqual && !compiles(verdict.mutant) };
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
    return wrong.length === 0;
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
