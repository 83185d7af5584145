import { parseArgs } from "node:util";
import { World, type WorldOptions, type WorldResult } from "./world";

/** Operations per world, about: short enough that a failing seed replays in seconds. */
const PER_WORLD = 6_000;
const USAGE =
  "usage: npm run simulate:world -- [--seed N] [--operations M] [--payment-method tok_ok …] [--keep-going]";

/** What `operations` are, so that figures mean something. */
const COUNTED = "requests to the HTTP app, webhook attempts, background passes and hints that were worked on";

/** Worlds with consecutive seeds until enough has happened. */
async function simulate(): Promise<number> {
  const { values } = parseArgs({
    options: {
      seed: { type: "string", default: "1" },
      operations: { type: "string", default: "50000" },
      "payment-method": { type: "string", multiple: true },
      "keep-going": { type: "boolean", default: false },
    },
  });
  const first = Number(values.seed);
  const wanted = Number(values.operations);
  if (!Number.isSafeInteger(first) || !Number.isSafeInteger(wanted) || wanted < 1) {
    console.error(USAGE);
    return 64;
  }
  const [method, ...others] = values["payment-method"] ?? [];
  const methods = method === undefined ? {} : { paymentMethods: [method, ...others] as const };
  const sums = { worlds: 0, operations: 0, payments: 0, unjudged: 0, kills: 0, verdicts: 0, failed: 0 };
  const begun = process.cpuUsage();
  for (let seed = first; sums.operations < wanted; seed += 1) {
    const operations = Math.min(PER_WORLD, wanted - sums.operations);
    const result = await lived({ seed, operations, ...methods });
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
    console.log(`${result.failures.join("\n")}\n${toSeeItAgain({ seed, operations, ...methods })}\n`);
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
async function lived(options: WorldOptions): Promise<WorldResult> {
  try {
    return await new World(options).run();
  } catch (error) {
    throw new Error(toSeeItAgain(options), { cause: error });
  }
}

function toSeeItAgain({ seed, operations, paymentMethods }: WorldOptions): string {
  const methods = (paymentMethods ?? []).map((one) => ` --payment-method ${one}`).join("");
  return `failed; to see it again: npm run simulate:world -- --seed ${seed} --operations ${operations}${methods}`;
}

void simulate().then(
  (status) => (process.exitCode = status),
  (error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  },
);
