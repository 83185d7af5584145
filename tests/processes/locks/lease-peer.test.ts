import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { openGcsWorld, QUICK_LEASE, type GcsWorld } from "../../support/servers/gcs-locks";
import { describeWithPython } from "../../support/servers/servers";
import { TalkingChild } from "../../support/program/talking-child";
import { size } from "../../support/test-size";

const PEER = join(__dirname, "../../../examples/lease-peer");
const VECTORS = join(__dirname, "../../../docs/lease-wire-format/vectors.json");
/** Long enough that a busy machine does not make a holder lose it between two lines. */
const LEASE = { ...QUICK_LEASE, ttlMs: 4_000, waiterTtlMs: 4_000 };
const LONG_MS = 120_000;
const INSIDE_MS = 150;

type Side = "ours" | "the peer";
type Question = { do: "read"; token: string } | { do: "write"; token: string; value: number; held: boolean };
type Answerer = (question: Question) => unknown;

interface Counting {
  kill(): Promise<void>;
}

/** A value with the greatest token that ever touched it: whoever comes with a lesser one is refused. */
class Counter {
  value = 0;
  private fence = 0n;
  readonly accepted: Record<Side, number> = { ours: 0, "the peer": 0 };
  /** Refused, although its holder was sure of its lock: two were inside. */
  overlaps = 0;
  /** Two holders with one token. */
  sameTokens = 0;

  answer(side: Side, question: Question): number | boolean {
    const token = BigInt(question.token);
    if (question.do === "read") {
      if (token === this.fence) this.sameTokens += 1;
      if (token > this.fence) this.fence = token;
      return this.value;
    }
    if (token < this.fence) {
      if (question.held) this.overlaps += 1;
      return false;
    }
    this.value = question.value;
    this.accepted[side] += 1;
    return true;
  }

  get counted(): number {
    return this.accepted.ours + this.accepted["the peer"];
  }
}

/** The peer, in a process of its own that goes on counting until it is killed. */
class PeerChild implements Counting {
  private readonly process: ChildProcess;
  private readonly gone: Promise<unknown>;

  constructor(world: GcsWorld, reply: Answerer) {
    const [bucket = "", prefix = ""] = world.location.slice("gs://".length).split("/");
    const { ttlMs, waiterTtlMs, yieldMs, waiterPollMs } = LEASE;
    const times = {
      ttl_ms: ttlMs,
      waiter_ttl_ms: waiterTtlMs,
      yield_ms: yieldMs,
      poll_ms: waiterPollMs,
    };
    const given = { peer: PEER, endpoint: world.relay?.url, bucket, prefix, times };
    this.process = spawn(
      "python3",
      ["-B", join(__dirname, "../../support/children/peers/lease_peer_child.py")],
      {
        stdio: ["pipe", "pipe", "inherit"],
        env: { ...process.env, LEASE_PEER_CHILD: JSON.stringify(given) },
      },
    );
    this.gone = new Promise((resolve) => this.process.once("close", resolve));
    // One that was killed hears nothing any more.
    this.process.stdin?.on("error", () => undefined);
    createInterface({ input: this.process.stdout! }).on("line", (line) => {
      void Promise.resolve(reply(JSON.parse(line) as Question)).then((answer) =>
        this.process.stdin?.write(`${JSON.stringify(answer)}\n`),
      );
    });
  }

  async kill(): Promise<void> {
    this.process.kill("SIGKILL");
    await this.gone;
  }
}

describeWithPython("a peer that was written from the page about the wire format", () => {
  let world: GcsWorld;
  let counter: Counter;
  const living = new Set<Counting>();

  beforeEach(async () => {
    world = await openGcsWorld();
    counter = new Counter();
  });

  afterEach(async () => {
    await Promise.all([...living].map((child) => child.kill()));
    living.clear();
    await world.close();
  });

  /** Slowly, so that somebody else who came in meanwhile would be seen. */
  async function answer(side: Side, question: Question): Promise<unknown> {
    const told = counter.answer(side, question);
    if (question.do === "read") await new Promise((resolve) => setTimeout(resolve, INSIDE_MS));
    return told;
  }

  function start(side: Side, reply: Answerer = (question) => answer(side, question)): Counting {
    const child = side === "ours" ? startOurs(reply) : new PeerChild(world, reply);
    living.add(child);
    return child;
  }

  function startOurs(reply: Answerer): Counting {
    const child = new TalkingChild(world.child("gcs-counting-child.ts", LEASE), reply as never);
    void child.tell({ times: 1_000_000 });
    return child;
  }

  async function kill(child: Counting): Promise<void> {
    living.delete(child);
    await child.kill();
  }

  /** One that is killed while it is inside: between its first read and its write. */
  async function killInside(side: Side): Promise<void> {
    let child: Counting | undefined;
    await new Promise<void>((resolve) => {
      child = start(side, (question) => {
        counter.answer(side, question);
        resolve();
        return new Promise(() => undefined);
      });
    });
    await kill(child!);
  }

  async function until(reached: () => boolean): Promise<void> {
    while (!reached()) await new Promise((resolve) => setTimeout(resolve, 20));
  }

  const isExact = () =>
    expect([counter.value, counter.overlaps, counter.sameTokens]).toEqual([counter.counted, 0, 0]);

  test("reads every example as the page has it", () => {
    const check = () => execFileSync("python3", ["-B", join(PEER, "check_vectors.py"), VECTORS]);
    expect(check().toString()).toBe("");
  });

  test("counts with ours under one lock, each killed inside once, and the count is exact", async () => {
    start("ours");
    start("the peer");
    for (const side of ["ours", "the peer"] as const) {
      await killInside(side);
      const { ours, "the peer": peer } = counter.accepted;
      await until(() => counter.accepted.ours > ours + 1 && counter.accepted["the peer"] > peer + 1);
    }
    isExact();
  }, 120_000);

  if (size(true, false))
    test("counts with ours for two minutes, while either side is killed wherever it is, and the count is exact", async () => {
      const sides: Side[] = ["ours", "ours", "the peer", "the peer"];
      const children = sides.map((side) => ({ side, child: start(side) }));
      let kills = 0;
      const endMs = performance.now() + LONG_MS;
      while (performance.now() < endMs) {
        await new Promise((resolve) => setTimeout(resolve, 1_000 + ((kills * 677) % 3_000)));
        const one = children[kills % children.length]!;
        kills += 1;
        await kill(one.child);
        one.child = start(one.side);
      }
      isExact();
      expect(kills).toBeGreaterThan(10);
      expect(Math.min(counter.accepted.ours, counter.accepted["the peer"])).toBeGreaterThan(5);
    }, 300_000);
});
