import { setTimeout as pause } from "node:timers/promises";
import { waitersIn } from "../../../src/infrastructure/locking/lease/protocol/lease-line";
import { parseLeaseRecord } from "../../../src/infrastructure/locking/lease/protocol/lease-record";
import { GcsStandIn } from "../../support/gcs-stand-in/gcs-stand-in";
import { describeAtFullSize } from "../../support/servers/servers";
import { TalkingChild } from "../../support/program/talking-child";
import { typescriptChild } from "../../support/children/typescript-child";

const PROCESSES = 4;
/** The second is long enough that waiters look as rarely as they ever do, which takes them half a minute. */
const sections = [
  { sectionMs: 1_300, rounds: 6 },
  { sectionMs: 12_000, rounds: 2 },
];
/** What it takes at most, besides the section, until the next one is inside. */
const HAND_OVER_MS = 6_000;
const PATIENCE_MS = 300_000;

let standIn: GcsStandIn;
let children: TalkingChild[];
let isOver: boolean;

beforeEach(async () => {
  standIn = await GcsStandIn.start({ buckets: ["locks"], limitMutations: true });
  children = [];
  isOver = false;
});

afterEach(async () => {
  isOver = true;
  await Promise.all(children.map((child) => child.kill()));
  await standIn.close();
});

interface Turn {
  /** How many waited before it when it was first seen in line. */
  readonly ahead: number;
  readonly waitedMs: number;
}

/** Looks at the record as often as it changes, until the test is over. */
async function watchTurns(turns: Turn[]): Promise<void> {
  const inLine = new Map<string, { readonly ahead: number; readonly sinceMs: number }>();
  while (!isOver) {
    const stored = standIn.state.objectsOf("locks").get("jobs/counter.json");
    if (stored !== undefined) {
      const record = parseLeaseRecord(stored.content.toString(), "counter");
      const nowMs = performance.now();
      waitersIn(record).forEach((waiter, ahead) => {
        if (!inLine.has(waiter)) inLine.set(waiter, { ahead, sinceMs: nowMs });
      });
      const come = record.ownerId === null ? undefined : inLine.get(record.ownerId);
      if (come !== undefined && record.ownerId !== null) {
        inLine.delete(record.ownerId);
        turns.push({ ahead: come.ahead, waitedMs: nowMs - come.sinceMs });
      }
    }
    await pause(5);
  }
}

describeAtFullSize("under one write a second", () => {
  test.each(sections)(
    "nobody in line waits for longer than those before it take, and itself: $sectionMs ms each",
    async ({ sectionMs, rounds }) => {
      let value = 0;
      const turns: Turn[] = [];
      const watching = watchTurns(turns);
      const answer = async (question: { do: "read" } | { do: "write"; value: number }) => {
        if (question.do === "read") return value;
        await pause(sectionMs);
        value = question.value;
        return true;
      };
      for (let index = 0; index < PROCESSES; index += 1) {
        const env = {
          GCS_CHILD: JSON.stringify({ location: "gs://locks/jobs", options: { emulatorHost: standIn.url } }),
        };
        const command = { ...typescriptChild("gcs-counting-child.ts"), env };
        children.push(new TalkingChild(command, answer as (asked: unknown) => unknown));
      }
      await Promise.all(children.map((child) => child.tell({ times: rounds })));
      isOver = true;
      await watching;

      expect(value).toBe(PROCESSES * rounds);
      // Those that came while somebody was inside; at the end there is nobody left to wait for.
      expect(turns.length).toBeGreaterThanOrEqual(rounds);
      const late = turns.filter(({ ahead, waitedMs }) => waitedMs > (ahead + 1) * (sectionMs + HAND_OVER_MS));
      expect(late).toEqual([]);
      if (process.env["HOLDFAST_TEST_SHOW"] !== undefined) console.log(JSON.stringify(turns));
    },
    PATIENCE_MS,
  );
});
