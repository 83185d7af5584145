import { parseArgs } from "node:util";
import { InMemoryGatewayLedger } from "../../../src/infrastructure/gateways/simulated/in-memory-gateway-ledger";
import { InMemoryPaymentRepository } from "../../../src/infrastructure/persistence/in-memory-payment-repository";
import { lifeProfiles } from "./life-profile";
import { PaymentLife } from "./payment-life";

/** Steps per world. Short enough that a failing seed replays in seconds. */
const PER_WORLD = 5_000;
const USAGE = "usage: npm run simulate:payments -- [--seed N] [--steps M] [--profile NAME]";

/** Worlds with consecutive seeds, one profile after the other, until enough has happened. */
async function simulate(): Promise<number> {
  const { values } = parseArgs({
    options: { seed: { type: "string" }, steps: { type: "string" }, profile: { type: "string" } },
  });
  const firstSeed = Number(values.seed ?? 1);
  const wanted = Number(values.steps ?? 200_000);
  const chosen = lifeProfiles.filter(({ name }) => values.profile === undefined || name === values.profile);
  if (!Number.isSafeInteger(firstSeed) || !Number.isSafeInteger(wanted) || chosen.length === 0) {
    console.error(`${USAGE}\nprofiles: ${lifeProfiles.map(({ name }) => name).join(", ")}`);
    return 64;
  }
  const startedMs = performance.now();
  const sums = { payments: 0, answers: 0, kills: 0, reviews: 0 };
  for (let seed = firstSeed, left = wanted; left > 0; seed += 1, left -= PER_WORLD) {
    const profile = chosen[(seed - firstSeed) % chosen.length] ?? lifeProfiles[0];
    const steps = Math.min(PER_WORLD, left);
    const { failures, ...result } = await new PaymentLife({
      seed,
      steps,
      profile,
      payments: new InMemoryPaymentRepository(),
      ledger: new InMemoryGatewayLedger(),
    }).run();
    if (failures.length > 0) {
      const replay = `npm run simulate:payments -- --seed ${seed} --steps ${steps} --profile "${profile.name}"`;
      console.log(`${failures.slice(0, 20).join("\n")}\n\nfailed; to see it again: ${replay}`);
      return 1;
    }
    sums.payments += result.payments;
    sums.answers += result.answers;
    sums.kills += result.kills;
    sums.reviews += result.reviews;
  }
  console.table([sums]);
  const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
  console.log(`${wanted} steps, the money is where it should be, ${seconds} s`);
  return 0;
}

void simulate().then((status) => (process.exitCode = status));
