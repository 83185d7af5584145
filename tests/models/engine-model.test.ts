import { size } from "../support/test-size";
import { describeWithSpin, describeWithSpinAtFullSize } from "../support/servers/servers";
import { replay } from "./replay-on-engine";
import { explore, faultsOf, type Exploration, type Explored } from "./spin";
import { transitionsInPromela } from "./transitions-in-promela";

const FEWEST_STATES = 10_000;
const MINUTES = 10 * 60_000;

const callers = [
  { name: "two captures", FIRST: "to_capture", SECOND: "to_capture" },
  { name: "a capture and a void", FIRST: "to_capture", SECOND: "to_void" },
  { name: "two refunds of everything", FIRST: "to_refund", SECOND: "to_refund" },
];

function exploreEngine(chosen: Exploration["chosen"]): Explored {
  return explore({ model: "engine.pml", generated: { "transitions.pml": transitionsInPromela() }, chosen });
}

describeWithSpin("every state of the engine's model", () => {
  // In brief, each kind of movement once.
  it.each(size(callers, callers.slice(1)))(
    "keeps the promises for $name, with a lock and one death",
    ({ FIRST, SECOND }) => {
      const { trace, states } = exploreEngine({ FIRST, SECOND, CRASHES: 1 });
      expect(trace).toBeNull();
      // Far fewer would mean that the model has stopped before the interesting part.
      expect(states).toBeGreaterThan(FEWEST_STATES);
    },
    MINUTES,
  );
});

// Up to ten million states each; with a death as well, up to fifty. In brief, tests/simulation goes through captures without
// a lock, and a writer who compares no versions is found below.
describeWithSpinAtFullSize("every state of the engine's model without a lock", () => {
  it.each(callers)(
    "keeps the promises for $name, without a lock",
    ({ FIRST, SECOND }) => {
      const { trace, states } = exploreEngine({ FIRST, SECOND, UNLOCKED: true, CRASHES: 0, TURNS: 2 });
      expect(trace).toBeNull();
      expect(states).toBeGreaterThan(100 * FEWEST_STATES);
    },
    MINUTES,
  );
});

describeWithSpin("a fault that is planted into the model", () => {
  const faults = {
    ABSENCE_CLOSES: {},
    BLIND_WRITES: { UNLOCKED: true, FIRST: "to_refund", SECOND: "to_refund" },
    EARLY_TIME: {},
  } as const;

  it("is one of those that the model names", () => {
    expect(faultsOf("engine.pml")).toEqual(Object.keys(faults));
  });

  // In brief, the first one is found by the last test alone.
  it.each(Object.entries(faults).slice(size(0, 1)))("is found: %s", (fault, around) => {
    const { trace } = exploreEngine({ ...around, [fault]: true, CRASHES: 0 });
    expect(trace?.length).toBeGreaterThan(3);
  });

  it("has a trace that moves money twice in the engine with the same fault, and once in the engine as it is", async () => {
    const { trace } = exploreEngine({ ABSENCE_CLOSES: true, CRASHES: 0 });
    expect(await replay(trace ?? [], { absenceCloses: true })).toBe(2);
    expect(await replay(trace ?? [], { absenceCloses: false })).toBe(1);
  });
});
