import { parseArgs } from "node:util";

import { profiles } from "./profile";
import { Simulation, type SimulationResult } from "./simulation";

/** Acquisitions per world. Short enough that a failing seed replays in a second. */
const PER_WORLD = 500;

const USAGE = "usage: npm run simulate -- [--seed N] [--acquisitions M] [--profile NAME] [--permits N[,N…]]";

/** Worlds with consecutive seeds, one profile after the other, until enough tenures have been inside. */
async function simulate(): Promise<number> {
  const { values } = parseArgs({
    options: {
      seed: { type: "string" },
      acquisitions: { type: "string" },
      profile: { type: "string" },
      permits: { type: "string" },
    },
  });
  const firstSeed = Number(values.seed ?? 1);
  const wanted = Number(values.acquisitions ?? 10_000);
  const chosen = profiles.filter(({ name }) => values.profile === undefined || name === values.profile);
  const [some, ...others] = values.permits?.split(",").map(Number) ?? [];
  const permits = some === undefined ? {} : { permits: [some, ...others] as const };
  if (!Number.isSafeInteger(firstSeed) || !Number.isSafeInteger(wanted) || chosen.length === 0) {
    console.error(`${USAGE}\nprofiles: ${profiles.map(({ name }) => name).join(", ")}`);
    return 64;
  }

  const startedMs = performance.now();
  const totals = new Map<string, Totals>();
  let acquisitions = 0;
  for (let seed = firstSeed; acquisitions < wanted; seed += 1) {
    const profile = chosen[(seed - firstSeed) % chosen.length] ?? chosen[0];
    if (profile === undefined) break;
    const perWorld = Math.min(PER_WORLD, wanted - acquisitions);
    const result = await new Simulation({ seed, profile, acquisitions: perWorld, ...permits }).run();
    if (result.failure !== undefined) {
      const replay = `npm run simulate -- --seed ${seed} --acquisitions ${perWorld} --profile ${profile.name}${values.permits === undefined ? "" : ` --permits ${values.permits}`}`;
      console.log(`${result.failure}\n\nfailed; to see it again: ${replay}`);
      return 1;
    }
    acquisitions += result.acquisitions;
    totals.set(profile.name, added(totals.get(profile.name), result));
  }
  report(totals, acquisitions, (performance.now() - startedMs) / 1000);
  return 0;
}

interface Totals {
  readonly worlds: number;
  readonly acquisitions: number;
  readonly losses: number;
  readonly takeovers: number;
  readonly longestTakeoverMs: number;
  readonly refusedWrites: number;
  readonly writes: number;
  readonly virtualHours: number;
}

function added(sum: Totals | undefined, one: SimulationResult): Totals {
  return {
    worlds: (sum?.worlds ?? 0) + 1,
    acquisitions: (sum?.acquisitions ?? 0) + one.acquisitions,
    losses: (sum?.losses ?? 0) + one.losses,
    takeovers: (sum?.takeovers ?? 0) + one.takeovers,
    longestTakeoverMs: Math.max(sum?.longestTakeoverMs ?? 0, Math.round(one.longestTakeoverMs)),
    refusedWrites: (sum?.refusedWrites ?? 0) + one.refusedWrites,
    writes: (sum?.writes ?? 0) + one.writes,
    virtualHours: Math.round(((sum?.virtualHours ?? 0) + one.virtualMs / 3_600_000) * 100) / 100,
  };
}

function report(totals: ReadonlyMap<string, Totals>, acquisitions: number, seconds: number): void {
  console.table(Object.fromEntries(totals));
  console.log(`${acquisitions} acquisitions, no promise broken, ${seconds.toFixed(1)} s`);
}

void simulate().then((status) => (process.exitCode = status));
