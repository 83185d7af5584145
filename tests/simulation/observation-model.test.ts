import { describeAtFullSize } from "../support/servers/servers";
import { explore, type Rules } from "./observation-model";

const PATIENCE_MS = 180_000;

const capture = "a capture, and one in the dashboard";
const refund = "a refund, and an earlier one that fails";

const worlds: readonly Omit<Rules, "mistake">[] = [
  { scenario: capture, crashes: 0 },
  { scenario: capture, crashes: 1 },
  { scenario: refund, crashes: 0 },
];

// The planted mistakes below are found without going through all of these.
describeAtFullSize("every interleaving of two observers", () => {
  test.each(worlds)(
    "with $scenario, and $crashes crash(es), counts what was moved, once",
    async (rules) => {
      const { failure, states, ends } = await explore(rules);
      expect(failure).toBeNull();
      // Far fewer would mean that the model has stopped before the interesting part.
      expect(states).toBeGreaterThan(1_000);
      expect(ends).toBeGreaterThan(10);
    },
    PATIENCE_MS,
  );
});

test.each<[NonNullable<Rules["mistake"]>, Rules["scenario"], RegExp]>([
  ["no version", capture, /more is counted as captured than was/],
  ["ids are not looked at", capture, /a person is asked about what the gateway shows/],
  ["ids are not looked at", refund, /refunded/],
  ["absence closes", capture, /a person is asked about what the gateway shows/],
  ["a later word does not count", refund, /refunded is not what was refunded/],
])(
  "the model of observations notices this mistake: %s, with %s",
  async (mistake, scenario, what) => {
    const { failure } = await explore({ scenario, crashes: 0, mistake });
    expect(failure?.what).toMatch(what);
  },
  PATIENCE_MS,
);
