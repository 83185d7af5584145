import { parseArgs } from "node:util";
import { inParallel } from "../../../src/application/background/in-parallel";
import { startOwnPostgres } from "../../support/servers/own-postgres";
import { lifeProfiles, type LifeProfile } from "./life-profile";
import { lifeStores, storeKinds, type StoreKind } from "./life-store";
import { PaymentLife } from "./payment-life";

/** Steps per world. Short enough that a failing seed replays in seconds. */
const PER_WORLD = 2_000;
/** Worlds that are lived at once, each for itself: while one waits for its server, the others go on. */
const AT_ONCE: Readonly<Record<StoreKind, number>> = { memory: 1, sqlite: 1, postgres: 8 };
const USAGE =
  "usage: npm run simulate:payments -- [--store memory|sqlite|postgres] [--seed N] [--steps M] [--profile NAME] [--keep-going]";

interface WorldOfSteps {
  readonly seed: number;
  readonly steps: number;
  readonly profile: LifeProfile;
}

/** Worlds with consecutive seeds, one profile after the other, until enough has happened. */
async function simulate(): Promise<number> {
  const { values } = parseArgs({
    options: {
      store: { type: "string", default: "memory" },
      seed: { type: "string" },
      steps: { type: "string" },
      profile: { type: "string" },
      "keep-going": { type: "boolean", default: false },
    },
  });
  const kind = storeKinds.find((one) => one === values.store);
  const firstSeed = Number(values.seed ?? 1);
  const wanted = Number(values.steps ?? 200_000);
  const chosen = lifeProfiles.filter(({ name }) => values.profile === undefined || name === values.profile);
  const [first] = chosen;
  if (
    !Number.isSafeInteger(firstSeed) ||
    !Number.isSafeInteger(wanted) ||
    first === undefined ||
    kind === undefined
  ) {
    console.error(`${USAGE}\nprofiles: ${lifeProfiles.map(({ name }) => name).join(", ")}`);
    return 64;
  }
  const worlds = Array.from({ length: Math.ceil(wanted / PER_WORLD) }, (_, at) => ({
    seed: firstSeed + at,
    steps: Math.min(PER_WORLD, wanted - at * PER_WORLD),
    profile: chosen[at % chosen.length] ?? first,
  }));
  // A server of its own, which flushes nothing: what is lived on it is gone afterwards anyway.
  const server =
    kind === "postgres" ? await startOwnPostgres({ fsync: "off", full_page_writes: "off" }) : null;
  try {
    return await live(kind, server?.url ?? "", worlds, values["keep-going"]);
  } finally {
    await server?.stop();
  }
}

async function live(
  kind: StoreKind,
  server: string,
  worlds: readonly WorldOfSteps[],
  keepGoing: boolean,
): Promise<number> {
  const stores = await lifeStores(kind, server);
  const startedMs = performance.now();
  const sums = { steps: 0, payments: 0, answers: 0, kills: 0, reviews: 0, failed: 0 };
  const found = new Map<string, { times: number; readonly seed: number }>();
  await inParallel(worlds, AT_ONCE[kind], async ({ seed, steps, profile }) => {
    if (sums.failed > 0 && !keepGoing) return;
    const { payments, ledger, close } = await stores.open();
    const { failures, ...result } = await new PaymentLife({ seed, steps, profile, payments, ledger }).run();
    await close();
    sums.steps += steps;
    sums.payments += result.payments;
    sums.answers += result.answers;
    sums.kills += result.kills;
    sums.reviews += result.reviews;
    if (failures.length === 0) return;
    sums.failed += 1;
    const replay = `npm run simulate:payments -- --store ${kind} --seed ${seed} --steps ${steps} --profile "${profile.name}"`;
    console.log(`${failures.slice(0, 20).join("\n")}\nfailed; to see it again: ${replay}\n`);
    for (const failure of failures) {
      const what = (failure.split("\n")[0] ?? "").replace(/[0-9a-f]{8}-[0-9a-f-]{27}/g, "…");
      const known = found.get(what) ?? { times: 0, seed };
      known.times += 1;
      found.set(what, known);
    }
  });
  await stores.close();
  if (keepGoing)
    for (const [what, { times, seed }] of found) console.log(`${times} times, seed ${seed}: ${what}`);
  console.table([sums]);
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
  if (sums.failed > 0) return 1;
  console.log(`${sums.steps} steps on ${kind}, the money is where it should be, ${seconds} s`);
  return 0;
}

void simulate().then((status) => (process.exitCode = status));
