import { Gate } from "../../support/fakes/gate";
import { openGcsWorld, type GcsWorld } from "../../support/servers/gcs-locks";
import { TalkingChild } from "../../support/program/talking-child";
import { describeAtFullSize } from "../../support/servers/servers";

const PATIENCE_MS = 60_000;

let world: GcsWorld;
let children: TalkingChild[];

beforeEach(async () => {
  world = await openGcsWorld();
  children = [];
});

afterEach(async () => {
  await Promise.all(children.map((child) => child.kill()));
  await world.close();
});

function start(script: string, reply?: (asked: never) => unknown): TalkingChild {
  const child = new TalkingChild(world.child(script), reply as ((asked: unknown) => unknown) | undefined);
  children.push(child);
  return child;
}

describeAtFullSize("a counter that is guarded by the fencing token stays exact", () => {
  type Question =
    { do: "read"; token: string } | { do: "write"; token: string; value: number; held: boolean };

  /** A value with the greatest token that ever touched it: whoever comes with a lesser one is refused. */
  class FencedCounter {
    value = 0;
    private fence = 0n;
    readonly refused: { held: boolean }[] = [];
    accepted = 0;

    answer(question: Question): number | boolean {
      const token = BigInt(question.token);
      if (question.do === "read") {
        if (token > this.fence) this.fence = token;
        return this.value;
      }
      if (token < this.fence) {
        this.refused.push({ held: question.held });
        return false;
      }
      this.fence = token;
      this.value = question.value;
      this.accepted += 1;
      return true;
    }
  }

  /** A counting child that stands still for good between its first read and its write, until it is let go. */
  function startHesitant(counter: FencedCounter): { child: TalkingChild; inside: Gate; letGo: Gate } {
    const [inside, letGo] = [new Gate(), new Gate()];
    let first = true;
    const child = start("gcs-counting-child.ts", async (question: Question) => {
      const answer = counter.answer(question);
      if (first) {
        first = false;
        inside.open();
        await letGo.passed;
      }
      return answer;
    });
    return { child, inside, letGo };
  }

  test(
    "though a holder is stopped past its lease, and goes on writing when it is continued",
    async () => {
      const counter = new FencedCounter();
      const { child: stopped, inside, letGo } = startHesitant(counter);
      const stoppedCounts = stopped.tell({ times: 3 });
      await inside.passed;
      stopped.stop();
      letGo.open();

      const other = start("gcs-counting-child.ts", (question: Question) => counter.answer(question));
      await other.tell({ times: 4 });
      expect(counter.value).toBe(4);

      stopped.continue();
      await stoppedCounts;
      expect(counter.refused).toEqual([{ held: false }]);
      expect(counter.value).toBe(7);
      expect(counter.accepted).toBe(7);
    },
    PATIENCE_MS,
  );

  test(
    "though a holder is killed inside",
    async () => {
      const counter = new FencedCounter();
      const { child: doomed, inside } = startHesitant(counter);
      void doomed.tell({ times: 3 });
      await inside.passed;
      const other = start("gcs-counting-child.ts", (question: Question) => counter.answer(question));
      const otherCounts = other.tell({ times: 4 });
      await doomed.kill();
      await otherCounts;
      expect([counter.value, counter.accepted, counter.refused]).toEqual([4, 4, []]);
    },
    PATIENCE_MS,
  );
});

describeAtFullSize("ownership passes from one process to another", () => {
  /** A child with what it told, and a promise for the next time it is asked to let go. */
  function startOwner() {
    const heard: string[] = [];
    let requested = new Gate();
    const child = start("gcs-handoff-child.ts", ({ heard: what }: { heard: string }) => {
      heard.push(what);
      requested.open();
    });
    return {
      child,
      heard,
      acquire: (timeout = 30_000) => child.tell({ do: "acquire", timeout }) as Promise<string>,
      release: () => child.tell({ do: "release" }),
      askedToRelease: async () => {
        await requested.passed;
        requested = new Gate();
      },
    };
  }

  test(
    "on request, in both directions, each time once and with a greater token",
    async () => {
      const [one, other] = [startOwner(), startOwner()];
      const tokens = [await one.acquire()];
      for (const [owner, next] of [
        [one, other],
        [other, one],
        [one, other],
      ] as const) {
        const acquiring = next.acquire();
        await owner.askedToRelease();
        await owner.release();
        tokens.push(await acquiring);
      }
      expect([one.heard, other.heard]).toEqual([
        ["release requested", "release requested"],
        ["release requested"],
      ]);
      expect(tokens.map(BigInt)).toEqual([...tokens.map(BigInt)].sort((a, b) => (a < b ? -1 : 1)));
      expect(new Set(tokens).size).toBe(4);
    },
    PATIENCE_MS,
  );

  test(
    "and a third is told at once that somebody is waiting already, and gets the place of a waiter that was killed when that has lasted",
    async () => {
      const [owner, waiter, third] = [startOwner(), startOwner(), startOwner()];
      await owner.acquire();
      const acquiring = waiter.acquire();
      await owner.askedToRelease();
      await expect(third.acquire()).resolves.toEqual({ failed: "lock_contended" });
      await owner.release();
      await acquiring;

      // The one that had it is the next to wait, and is killed.
      void owner.acquire();
      await waiter.askedToRelease();
      await owner.child.kill();
      let trying: Promise<unknown> = third.acquire();
      const again = async (): Promise<unknown> => {
        const answer = await trying;
        if (typeof answer === "string") return answer;
        await new Promise((resolve) => setTimeout(resolve, 50));
        trying = third.acquire();
        return again();
      };
      const acquired = again();
      await waiter.askedToRelease();
      await waiter.release();
      expect(typeof (await acquired)).toBe("string");
    },
    PATIENCE_MS,
  );
});
