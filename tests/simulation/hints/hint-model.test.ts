import { testAtFullSize } from "../../support/servers/servers";
import { size } from "../../support/test-size";
import { exploreHints, type HintRules } from "./hint-model";
import type { HintModelMistake } from "./hint-model-mistakes";

const PATIENCE_MS = 180_000;

// The limits of questions to the gateway are no part of the model: in it, every question is answered.
beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

const capture = { caller: "captures", others: "do nothing", instances: 1, rounds: 2 } as const;
const elsewhere = { ...capture, others: "capture in the dashboard", rounds: 1 } as const;
const refund = { caller: "refunds", others: "have an earlier refund fail", instances: 1, rounds: 1 } as const;
const observers = {
  caller: "does nothing",
  others: "capture in the dashboard",
  instances: 2,
  rounds: 1,
} as const;

const worlds: readonly (readonly [string, Omit<HintRules, "crashes">])[] = [
  ["two instances that see a capture in the dashboard, without a lock", { ...observers, locked: false }],
  // The planted mistakes below are found without going through all of these.
  ...size<readonly (readonly [string, Omit<HintRules, "crashes">])[]>(
    [
      ["a hint before, during and after a capture, without a lock", { ...capture, locked: false }],
      ["a hint before, during and after a capture, with a lock", { ...capture, locked: true }],
      ["a capture in the dashboard while ours is unknown, with a lock", { ...elsewhere, locked: true }],
      ["a refund that fails late while another one is open, with a lock", { ...refund, locked: true }],
      ["two instances that see a capture in the dashboard, with a lock", { ...observers, locked: true }],
      ["a capture in the dashboard while ours is unknown, without a lock", { ...elsewhere, locked: false }],
      ["a refund that fails late while another one is open, without a lock", { ...refund, locked: false }],
    ],
    [],
  ),
];

describe.each([0, ...size([1], [])])("with %i crash(es), in every order of the steps", (crashes) => {
  // Without a lock and with a crash, only the small ones: the others would take a quarter of an hour.
  const explored = worlds.filter(([, world]) => crashes === 0 || world.locked || world.rounds === 2);
  test.each(explored)(
    "of %s, hints alone end where the gateway's books are",
    async (_, world) => {
      const { failure, states, ends } = await exploreHints({ ...world, crashes });
      expect(failure).toBeNull();
      // Far fewer would mean that the model has stopped before the interesting part.
      expect(states).toBeGreaterThan(1_000);
      expect(ends).toBeGreaterThan(20);
    },
    PATIENCE_MS,
  );
});

testAtFullSize(
  "hints alone end where the gateway's books are, wherever one of those dies who are at a capture",
  async () => {
    const { failure, ends } = await exploreHints({ ...capture, rounds: 1, locked: true, crashes: 1 });
    expect(failure).toBeNull();
    expect(ends).toBeGreaterThan(100);
  },
  PATIENCE_MS,
);

const mistakes: readonly (readonly [HintModelMistake, Omit<HintRules, "crashes" | "mistake">, RegExp])[] = [
  ["a hint is taken for evidence", { ...capture, locked: false }, /more is counted as captured than was/],
  ["a hint sends what it finds open", { ...capture, locked: false }, /sent because of a hint/],
  ["a busy payment's hint is dropped", { ...capture, locked: true }, /captured is not what was captured/],
  [
    "a hint that was renewed meanwhile is dropped",
    { ...observers, locked: true },
    /captured is not what was captured/,
  ],
  ["no version", { ...capture, locked: false }, /an end is told twice/],
  ["no version", { ...observers, locked: false }, /more is counted as captured than was/],
  [
    "what has ended is not asked about while something is open",
    { ...refund, locked: true, lastFirst: true },
    /refunded is not what was refunded/,
  ],
  ["what others captured is taken for ours", { ...elsewhere, locked: true }, /what others captured is ours/],
];

describe.each(mistakes)("the model of hints notices this mistake: %s", (mistake, world, what) => {
  test(
    `with a caller who ${world.caller}`,
    async () => {
      const { failure } = await exploreHints({ ...world, crashes: 0, mistake });
      expect(failure?.what).toMatch(what);
    },
    PATIENCE_MS,
  );
});
