import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { crashPrograms } from "../crash-run";
import { sample } from "../../support/test-size";
import { tellable } from "../../support/told-events";
import { runHintCrashes, type HintOutcome } from "./hint-crash-run";
import { cellsOf, hintCrashes, type HintCell, type HintCrash } from "./hint-crashes";
import type { HintMistake } from "./hint-mistakes";
import { situations, type Situation } from "./hint-situations";
import type { CrashPoint } from "../crash-point";

/** About twenty processes, one after the other. */
const RUN_TIMEOUT_MS = 240_000;

/**
 * In brief, every third one. So that no more wait at their points than hints are followed at a time, each is met by a third of the
 * situations, others than the one before.
 */
const tried = sample(hintCrashes, 3, 2).map((crash, nth) => ({ ...crash, of: sample(crash.of, 3, nth) }));

/** Where the process has to die for each mistake to show. */
const plants: readonly (readonly [HintMistake, (typeof hintCrashes)[number]["way"], CrashPoint])[] = [
  ["an event is acknowledged before it is stored", "by a webhook", "before receive"],
  ["a hint is dropped when it is lent", "by a webhook", "before find"],
  ["the position in the list moves before what is there was received", "by the list", "before receive"],
];

/** `store`: the URL of one that is empty. */
export function describeHintCrashes(name: string, store: (folder: string) => string | Promise<string>): void {
  describe(`killed while it follows what the gateway says, on ${name}`, () => {
    const outcomes = outcomesOf(tried, store);

    test("every point is met, and every situation", () => {
      expect(tried.filter(({ of }) => of.length === 0)).toEqual([]);
      expect(new Set(tried.flatMap(({ of }) => of))).toEqual(new Set(Object.keys(situations)));
    });

    test.each(cellsOf(tried))("$name: everything is known in the end, once", (cell) => {
      expect(wrongWith(cell, outcomes().get(cell.name)!)).toEqual([]);
    });
  });
}

/** The same on one store: what is to be found is not the store's. */
export function describeHintMistakes(name: string, store: (folder: string) => string): void {
  describe(`the crash matrix on ${name}`, () => {
    const mistaken = plants.flatMap(([mistake, way, point]) =>
      hintCrashes
        .filter((one) => one.way === way && one.point === point)
        .map((one) => ({ ...one, of: sample(one.of, 4), mistake })),
    );
    const outcomes = outcomesOf(mistaken, store);

    test.each(plants)(`the crash matrix notices that %s, told %s, on ${name}`, (mistake) => {
      const cells = cellsOf(mistaken.filter((one) => one.mistake === mistake));
      const wrong = cells.flatMap((cell) => wrongWith(cell, outcomes().get(cell.name)!));
      expect(wrong.join("\n")).toMatch(/was told in the end/);
    });
  });
}

/** Before the tests of a block, in an empty store. */
function outcomesOf(
  crashes: readonly HintCrash[],
  store: (folder: string) => string | Promise<string>,
): () => Map<string, HintOutcome> {
  let outcomes: Map<string, HintOutcome>;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "holdfast-crash-"));
    const programs = await crashPrograms();
    outcomes = await runHintCrashes({ store: await store(folder), folder, programs, crashes });
  }, RUN_TIMEOUT_MS);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return () => outcomes;
}

/** In which way what is known of a payment in the end is not what is so; empty if it is. */
function wrongWith({ situation }: HintCell, outcome: HintOutcome): string[] {
  const { history, answer }: Situation = situations[situation];
  const { payment, events, told, captured, refunded, again, sentToStripe } = outcome;
  const found: string[] = [];
  const compare = (what: string, is: unknown, should: unknown) => {
    const [one, other] = [JSON.stringify(is), JSON.stringify(should)];
    if (one !== other) found.push(`${what}: ${one}, not ${other}`);
  };
  compare("captured", payment.amountCaptured, captured);
  compare("refunded", payment.amountRefunded, refunded);
  const newsworthy = new Set<string>(Object.values(situations).flatMap((one) => one.history));
  const happened = events.map(({ type }) => type).filter((type) => newsworthy.has(type));
  const expected = [...history, ...implied(history, situation)];
  compare("what was told in the end", happened.sort(), expected.sort());
  const { length } = payment.disputes ?? [];
  compare("disputes", length, situation === "a dispute" ? 1 : 0);
  compare(
    "the feed",
    told.map(({ id, type }) => ({ id, type })),
    tellable(events),
  );
  compare("the key's answer", again[0]?.status, answer);
  compare("the key's answer again", { ...again[1], replayed: true }, { ...again[0], replayed: true });
  compare("sent to Stripe because of a hint", sentToStripe, []);
  return found;
}

/** What each way of life leaves behind beside what a situation is about. */
function implied(history: readonly string[], situation: string): string[] {
  const isAuthorized = !history.includes("payment.authorized");
  const isCaptured = /refund that fails/.test(situation);
  return [...(isAuthorized ? ["payment.authorized"] : []), ...(isCaptured ? ["capture.succeeded"] : [])];
}
