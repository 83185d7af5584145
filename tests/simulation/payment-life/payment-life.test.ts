import { join } from "node:path";
import { InMemoryGatewayLedger } from "../../../src/infrastructure/gateways/simulated/in-memory-gateway-ledger";
import { SqliteGatewayLedger } from "../../../src/infrastructure/gateways/simulated/sqlite-gateway-ledger";
import { InMemoryPaymentRepository } from "../../../src/infrastructure/persistence/in-memory-payment-repository";
import { PostgresPaymentRepository } from "../../../src/infrastructure/persistence/postgres-payment-repository";
import { SqlitePaymentRepository } from "../../../src/infrastructure/persistence/sqlite-payment-repository";
import { migratedPostgres } from "../../support/migrated-postgres";
import { describeWithPostgres } from "../../support/servers";
import { temporarySqlite } from "../../support/temporary-sqlite";
import { lifeProfiles, type LifeProfile } from "./life-profile";
import { PaymentLife, type LifeOptions } from "./payment-life";
import { plantedMistakes } from "./planted-mistakes";

const PATIENCE_MS = 60_000;
/** Enough for the rarest of the planted mistakes, several times over. */
const MOST_WORLDS_FOR_A_MISTAKE = 30;

function live(options: Partial<LifeOptions> & Pick<LifeOptions, "seed" | "profile">) {
  return new PaymentLife({
    steps: 2_000,
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
    test.each([1, 2, 3])(
      "in memory, world %i",
      async (seed) => {
        const { failures, answers, kills } = await live({ seed, profile });
        expect(failures).toEqual([]);
        expect(answers).toBeGreaterThan(20);
        expect(kills).toBeGreaterThan(0);
      },
      PATIENCE_MS,
    );

    test(
      "in SQLite",
      async () => {
        const { folder, sqlite, close } = await temporarySqlite();
        const ledger = await SqliteGatewayLedger.open(join(folder, "gateway.db"));
        const payments = new SqlitePaymentRepository(sqlite);
        const { failures, answers } = await live({ seed: 4, steps: 600, profile, payments, ledger });
        ledger.close();
        await close();
        expect(failures).toEqual([]);
        expect(answers).toBeGreaterThan(0);
      },
      PATIENCE_MS,
    );
  });

  test(
    "the same seed lives the same life again, another one another",
    async () => {
      const courseOf = async (seed: number) =>
        (await live({ seed, steps: 600, profile: lifeProfiles[0] })).fingerprint;
      const first = await courseOf(5);
      expect(await courseOf(5)).toBe(first);
      expect(await courseOf(6)).not.toBe(first);
    },
    PATIENCE_MS,
  );
});

describeWithPostgres("whatever happens to payments in PostgreSQL", (server) => {
  test.each(["no lock", "a storm"])(
    "with %s, what moved at the gateway is what the store says",
    async (name) => {
      const postgres = await migratedPostgres(server.url);
      const payments = new PostgresPaymentRepository(postgres);
      const { failures, answers } = await live({
        seed: 7,
        steps: 600,
        profile: profileNamed(name),
        payments,
      });
      await postgres.close();
      expect(failures).toEqual([]);
      expect(answers).toBeGreaterThan(0);
    },
    PATIENCE_MS,
  );
});

test.each(plantedMistakes)(
  "the simulation notices when $name",
  async ({ profile, plant, payments }) => {
    for (let seed = 1; seed <= MOST_WORLDS_FOR_A_MISTAKE; seed += 1) {
      const { failures } = await live({
        seed,
        profile: profileNamed(profile),
        ...(plant === undefined ? {} : { plant }),
        ...(payments === undefined ? {} : { payments: payments() }),
      });
      if (failures.some((failure) => /^payment .* (?:moved|captured|refunded|was told)/.test(failure)))
        return;
    }
    throw new Error(`not noticed in ${MOST_WORLDS_FOR_A_MISTAKE} worlds`);
  },
  PATIENCE_MS,
);
