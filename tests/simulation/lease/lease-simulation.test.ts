import { size } from "../../support/test-size";
import { plantedBugs } from "./planted-bugs";
import { profiles, rough } from "./profile";
import { Simulation } from "./simulation";

const SEEDS = size([1, 2], [1]);
const ACQUISITIONS = 100;

/** Enough for the rarest of the planted bugs, which shows in one world of three. */
const MOST_SEEDS_FOR_A_BUG = 40;

describe("leases on virtual time", () => {
  describe.each(profiles)("in $name weather", (profile) => {
    test.each(SEEDS)("keep every promise in world %i", async (seed) => {
      const acquisitions = size(ACQUISITIONS, ACQUISITIONS / 10);
      const result = await new Simulation({ seed, profile, acquisitions }).run();
      expect(result.failure).toBeUndefined();
      expect(result.acquisitions).toBeGreaterThanOrEqual(acquisitions);
    });
  });

  describe.each(profiles)("as slots of semaphores, in $name weather", (profile) => {
    // Processes of one mind, and such as disagree.
    test.each([[[2]], [[2, 3]]] as const)("keep every promise with %j permits", async (permits) => {
      for (const seed of SEEDS) {
        const acquisitions = size(ACQUISITIONS, ACQUISITIONS / 10);
        const result = await new Simulation({ seed, profile, acquisitions, permits }).run();
        expect(result.failure).toBeUndefined();
        expect(result.acquisitions).toBeGreaterThanOrEqual(acquisitions);
      }
    });
  });

  test("are lost by nobody as long as only clocks are wrong and only answers to writes late", async () => {
    const calmWorlds = profiles.filter(({ stallEveryMs }) => stallEveryMs === Infinity);
    expect(calmWorlds.map(({ name }) => name)).toEqual([
      "calm",
      "skewed",
      "mortal",
      "coarse",
      "ageless",
      "sluggish",
    ]);
    for (const profile of calmWorlds) {
      const acquisitions = size(ACQUISITIONS, ACQUISITIONS / 10);
      const { losses } = await new Simulation({ seed: 7, profile, acquisitions }).run();
      expect(losses).toBe(0);
    }
  });

  test("take the same course again from the same seed, and another from another", async () => {
    const courseOf = async (seed: number) => {
      const request = { seed, profile: rough, acquisitions: size(60, 20) };
      return (await new Simulation(request).run()).fingerprint;
    };
    const first = await courseOf(5);
    expect(await courseOf(5)).toBe(first);
    expect(await courseOf(6)).not.toBe(first);
  });
});

describe("the simulation", () => {
  test.each(plantedBugs)(
    "the simulation finds the planted bug: $name",
    async ({ profile, build, symptom, permits, seed: soon = 1 }) => {
      for (let seed = size(1, soon); seed <= MOST_SEEDS_FOR_A_BUG; seed += 1) {
        const request = { seed, profile, acquisitions: ACQUISITIONS, build, ...(permits && { permits }) };
        const { failure } = await new Simulation(request).run();
        if (failure !== undefined && symptom.test(failure.slice(0, failure.indexOf("\n")))) return;
      }
      throw new Error(`not found in ${MOST_SEEDS_FOR_A_BUG} worlds`);
    },
  );
});
