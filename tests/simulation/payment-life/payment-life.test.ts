import { InMemoryGatewayLedger } from "../../../src/infrastructure/gateways/simulated/ledgers/in-memory-gateway-ledger";
import { InMemoryPaymentRepository } from "../../../src/infrastructure/persistence/memory/in-memory-payment-repository";
import { describeWithPostgres } from "../../support/servers/servers";
import { sample, size } from "../../support/test-size";
import { lifeProfiles, type LifeProfile } from "./life-profile";
import { lifeStores, type LifeStores, type StoreKind } from "./life-store";
import { PaymentLife, type LifeOptions } from "./payment-life";
import { plantedMistakes } from "./planted-mistakes";

const PATIENCE_MS = 60_000;
const STEPS = 2_000;
/** Enough for the rarest of the planted mistakes, several times over. */
const MOST_WORLDS_FOR_A_MISTAKE = 60;

function live(options: Partial<LifeOptions> & Pick<LifeOptions, "seed" | "profile">) {
  return new PaymentLife({
    steps: size(STEPS, STEPS / 4),
    payments: new InMemoryPaymentRepository(),
    ledger: new InMemoryGatewayLedger(),
    ...options,
  }).run();
}

function profileNamed(name: string): LifeProfile {
  const profile = lifeProfiles.find((one) => one.name === name);
  if (profile === undefined) throw new Error(`there is no profile ${name}`);
  return profile;
}

describe("whatever happens to payments, what moved at the gateway is what the store says", () => {
  describe.each(lifeProfiles)("with $name", (profile) => {
    test(
      "in memory",
      async () => {
        for (let seed = 1; seed <= size(20, 1); seed += 1) {
          const { failures, answers, kills } = await live({ seed, profile });
          expect(failures).toEqual([]);
          expect(answers).toBeGreaterThan(20);
          expect(kills).toBeGreaterThan(0);
        }
      },
      PATIENCE_MS,
    );
  });

  describe("in SQLite", () => livesOn("sqlite", "", size(STEPS, 120), sample(lifeProfiles, 3)));

  test(
    "the same seed lives the same life again, another one another",
    async () => {
      const profile = profileNamed("everything at once");
      const courseOf = async (seed: number) =>
        (await live({ seed, steps: size(600, 200), profile })).fingerprint;
      const first = await courseOf(5);
      expect(await courseOf(5)).toBe(first);
      expect(await courseOf(6)).not.toBe(first);
    },
    PATIENCE_MS,
  );
});

describeWithPostgres("whatever happens to payments in PostgreSQL", (server) => {
  const chosen = ["a storm", "everything at once"].map(profileNamed);
  livesOn("postgres", () => server.url, size(1_000, 300), chosen);
});

/** One life with each profile, on stores of that kind. */
function livesOn(
  kind: StoreKind,
  server: string | (() => string),
  steps: number,
  all: readonly LifeProfile[],
) {
  let stores: LifeStores;
  beforeEach(async () => {
    stores = await lifeStores(kind, typeof server === "string" ? server : server());
  });
  afterEach(() => stores.close());

  test.each(all)(
    "payments live well with $name",
    async (profile) => {
      const { payments, ledger, close } = await stores.open();
      const { failures, answers } = await live({ seed: 4, steps, profile, payments, ledger });
      await close();
      expect(failures).toEqual([]);
      expect(answers).toBeGreaterThan(0);
    },
    PATIENCE_MS,
  );
}

test.each(plantedMistakes)(
  "the simulation notices when $name",
  async ({ profile, plant, payments, noticed, brief }) => {
    const { seed: first, steps } = size({ seed: 1, steps: STEPS }, brief);
    for (let seed = first; seed <= MOST_WORLDS_FOR_A_MISTAKE; seed += 1) {
      const { failures } = await live({
        seed,
        steps,
        profile: profileNamed(profile),
        ...(plant === undefined ? {} : { plant }),
        ...(payments === undefined ? {} : { payments: payments() }),
      });
      if (failures.some((failure) => noticed.test(failure))) return;
    }
    throw new Error(`not noticed in ${MOST_WORLDS_FOR_A_MISTAKE} worlds`);
  },
  PATIENCE_MS,
);
