import { size } from "../../support/test-size";
import { plantedFaults } from "./planted-faults";
import { World } from "./world";

const PATIENCE_MS = 120_000;
const BRIEF = 150;
/** A fault that needs more worlds than this would pass for none. */
const MOST_WORLDS = 4;

test(
  "whatever happens to the server and around it, what callers, readers and receivers were told is true, and nothing is left behind",
  async () => {
    for (let seed = 1; seed <= size(10, 1); seed += 1) {
      const { failures, answered, kills, unjudged } = await new World({
        seed,
        operations: size(4_000, BRIEF),
      }).run();
      expect({ seed, failures }).toEqual({ seed, failures: [] });
      expect(answered).toBeGreaterThan(BRIEF / 4);
      expect(kills).toBeGreaterThan(0);
      expect(unjudged).toBeLessThanOrEqual(size(2, 0));
    }
  },
  PATIENCE_MS,
);

test(
  "the same seed is the same world again, and another seed another one",
  async () => {
    const operations = size(2 * BRIEF, 50);
    const digestOf = async (seed: number) => (await new World({ seed, operations }).run()).digest;
    const first = await digestOf(5);
    expect(await digestOf(6)).not.toBe(first);
    expect(await digestOf(5)).toBe(first);
  },
  PATIENCE_MS,
);

test.each(plantedFaults)(
  "it is noticed when $name",
  async ({ plant, noticed, seed: first = 1, operations = 300 }) => {
    for (let seed = first; seed < first + MOST_WORLDS; seed += 1) {
      const { failures } = await new World({ seed, operations, plant: plant() }).run();
      if (failures.some((failure) => noticed.test(failure))) return;
    }
    throw new Error(`not noticed in ${MOST_WORLDS} worlds`);
  },
  PATIENCE_MS,
);
