import { parseArgs } from "node:util";
import { World, type WorldResult } from "./world";

/** Operations per world, about: short enough that a failing seed replays in seconds. */
const PER_WORLD = 6_000;
const USAGE = "usage: npm run simulate:world -- [--seed N] [--operations M] [--keep-going]";

/** What `operations` are, so that figures mean something. */
const COUNTED = "requests to the HTTP app, webhook attempts, background passes and hints that were worked on";

/** Worlds with consecutive seeds until enough has happened. */
async function simulate(): Promise<number> {
  const { values } = parseArgs({
    options: {
      seed: { type: "string", default: "1" },
      operations: { type: "string", default: "50000" },
      "keep-going": { type: "boolean", default: false },
    },
  });
  const first = Number(values.seed);
  const wanted = Number(values.operations);
  if (!Number.isSafeInteger(first) || !Number.isSafeInteger(wanted) || wanted < 1) {
    console.error(USAGE);
    return 64;
  }
  const sums = { worlds: 0, operations: 0, payments: 0, unjudged: 0, kills: 0, verdicts: 0, failed: 0 };
  const begun = process.cpuUsage();
  for (let seed = first; sums.operations < wanted; seed += 1) {
    const operations = Math.min(PER_WORLD, wanted - sums.operations);
    const result = await lived(seed, operations);
    const { requests, deliveries, passes, hints } = result.counted;
    sums.worlds += 1;
    sums.operations += requests + deliveries + passes + hints;
    sums.payments += result.payments;
    sums.unjudged += result.unjudged;
    sums.kills += result.kills;
    sums.verdicts += result.verdicts;
    // The line that two runs, or two versions of Node, are compared by.
    console.log(`seed ${seed}: ${result.digest}`);
    if (result.failures.length === 0) continue;
    sums.failed += 1;
    const replay = `npm run simulate:world -- --seed ${seed} --operations ${operations}`;
    console.log(`${result.failures.join("\n")}\nfailed; to see it again: ${replay}\n`);
    if (!values["keep-going"]) break;
  }
  const { user, system } = process.cpuUsage(begun);
  const seconds = (user + system) / 1e6;
  console.table([sums]);
  const perMinute = Math.round((sums.operations / seconds) * 60);
  console.log(
    `${sums.operations} operations (${COUNTED}) in ${seconds.toFixed(1)} s of CPU, ${perMinute} a minute`,
  );
  return sums.failed > 0 ? 1 : 0;
}

/** A world that comes to no end at all is a failure of its seed, too. */
async function lived(seed: number, operations: number): Promise<WorldResult> {
  try {
    return await new World({ seed, operations }).run();
  } catch (error) {
    throw new Error(
      `failed; to see it again: npm run simulate:world -- --seed ${seed} --operations ${operations}`,
      {
        cause: error,
      },
    );
  }
}

void simulate().then(
  (status) => (process.exitCode = status),
  (error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  },
);
