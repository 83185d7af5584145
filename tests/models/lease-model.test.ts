import { size } from "../support/test-size";
import { describeWithSpin, describeWithSpinAtFullSize } from "../support/servers/servers";
import { leaseInPromela } from "./lease-in-promela";
import { replayOnLease } from "./replay-on-lease";
import { explore, faultsOf, type Exploration, type Explored } from "./spin";

const FEWEST_STATES = 50_000;
const MINUTES = 10 * 60_000;
/** So long that an owner who does one thing per tick can renew it twice. */
const TICKS_IN_STEP = 6;

function exploreLease(
  chosen: Exploration["chosen"],
  how: Pick<Exploration, "isShort" | "isAboutProgress"> = {},
): Explored {
  const ticks = chosen["IN_STEP"] === true ? TICKS_IN_STEP : 1;
  return explore({ model: "lease.pml", generated: { "rules.pml": leaseInPromela(ticks) }, chosen, ...how });
}

const runs = [
  { name: "observers that ask the service how old a record is", ASKS_AGES: true, CRASHES: 0 },
  { name: "observers that watch, and one death", CRASHES: 1 },
] as const;

const isFull = size(true, false);

// In brief, one fault is enough to see that the model and its replay still go together.
describeWithSpinAtFullSize("every state of the lease's model", () => {
  it.each(runs)(
    "lets in one at a time, with rising fences and releases that leave nothing, with $name",
    ({ name: _, ...chosen }) => {
      const { trace, states } = exploreLease(chosen);
      expect(trace).toBeNull();
      // Far fewer would mean that the model has stopped before the interesting part.
      expect(states).toBeGreaterThan(FEWEST_STATES);
    },
    MINUTES,
  );

  it(
    "lets in whoever stands in line, although one process is frozen and an answer is lost",
    () => {
      const { trace, states } = exploreLease({ IN_STEP: true, CRASHES: 0 }, { isAboutProgress: true });
      expect(trace).toBeNull();
      expect(states).toBeGreaterThan(FEWEST_STATES);
    },
    MINUTES,
  );
});

describeWithSpin("a fault that is planted into the lease's model", () => {
  const faults = {
    BLIND_CLAIMS: {},
    NO_MARGIN: {},
    LATE_COUNT: {},
    ANY_RELEASE: {},
    LEAVES_ONCE: {},
    DEAF_OWNERS: { IN_STEP: true },
  } as const;

  it("is one of those that the lease's model names", () => {
    expect(faultsOf("lease.pml")).toEqual(Object.keys(faults));
  });

  if (isFull)
    it.each(Object.entries(faults))("is found in the lease's model: %s", (fault, around) => {
      const isAboutProgress = "IN_STEP" in around;
      const { trace } = exploreLease({ ...around, [fault]: true, CRASHES: 0 }, { isAboutProgress });
      expect(trace?.length).toBeGreaterThan(3);
    });

  it("has a trace that lets two into the lease as it is over a service with the same fault, and one without it", async () => {
    const { trace } = exploreLease({ BLIND_CLAIMS: true, CRASHES: 0 }, { isShort: true });
    expect(await replayOnLease(trace ?? [], { blindClaims: true })).toEqual({ inside: 2, fencesRise: false });
    expect(await replayOnLease(trace ?? [], { blindClaims: false })).toEqual({ inside: 1, fencesRise: true });
  });
});
