import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { QUICK_LEASE } from "../servers/gcs-locks";
import { tcpRelayTo, type TcpRelay } from "../servers/tcp-relay";
import { reportStorm } from "../storms";
import { size } from "../test-size";
import { typescriptChild } from "../children/typescript-child";

/** `nothing`: a lock that excludes nobody, which the storm has to find out. */
export type StormKind = "postgres" | "redis" | "gcs" | "kernel" | "exclusive-create" | "nothing";

const CHILDREN = join(__dirname, "../children");

/** How they get inside: by `withLock`, as some of several, or elected by `lead`. */
export type StormWay = "section" | "slots" | "leader";

/** How many may be inside at once, where they are several. */
export const STORM_PERMITS = 2;

/** In brief, as few as there can be one inside, one who is next and one who comes too late. */
const PROCESSES = size(5, 3);
const TIMEOUT_MS = 1_000;
/** What waits and closes may take beyond their bound, not counting when the machine did not let the process run. */
const LATE_MS = 100;
const PATIENCE_MS = 120_000;

interface Tenure {
  readonly fence: bigint;
  readonly slot: number;
  readonly fromMs: number;
  /** The last moment at which it was certain to be inside. */
  untilMs: number;
  readonly byPeer: boolean;
}

/** Several processes that want one lock, killed and stopped as the test likes; to a service, each over a relay of its own. */
export class Storm {
  readonly relays: TcpRelay[] = [];
  readonly refusals: { readonly code: string; readonly tookMs: number }[] = [];
  readonly closings: number[] = [];
  kills = 0;
  private readonly tenures = new Map<string, Tenure>();
  private readonly children: ChildProcess[] = [];
  private readonly ends: Promise<unknown>[] = [];
  private hearOfLong: (n: number) => void = () => {};

  private constructor(
    private readonly kind: StormKind,
    private readonly place: string,
    private readonly way: StormWay,
    private readonly peers: number,
  ) {}

  /** `place`: the service's URL, or a folder. `peers`: how many of them are the peer in Python, which knows leases in a bucket. */
  static async begin(kind: StormKind, place: string, way: StormWay = "section", peers = 0): Promise<Storm> {
    const storm = new Storm(kind, place, way, peers);
    for (let n = 0; n < PROCESSES; n += 1) {
      if (URL.canParse(place)) storm.relays.push(await tcpRelayTo(place));
      storm.start(n);
    }
    return storm;
  }

  /** In the order in which they began. */
  get order(): readonly Tenure[] {
    return [...this.tenures.values()].sort((a, b) => a.fromMs - b.fromMs);
  }

  /** Those who were one too many: as many as may be inside, who had come before, still believed to be. */
  get overlaps(): readonly Tenure[] {
    const { order } = this;
    const permits = this.way === "slots" ? STORM_PERMITS : 1;
    return order.filter(
      ({ fromMs }, n) => order.slice(0, n).filter(({ untilMs }) => fromMs < untilMs).length >= permits,
    );
  }

  /** Those who have no greater fence than the one before in their slot. */
  get outOfOrder(): readonly Tenure[] {
    const { order } = this;
    return order.filter(({ slot, fence }, n) => {
      const before = order.slice(0, n).findLast((other) => other.slot === slot);
      return before !== undefined && fence <= before.fence;
    });
  }

  async killOneInside(): Promise<void> {
    const n = await this.somebodyInside();
    this.children[n]!.kill("SIGKILL");
    this.kills += 1;
    await this.ends[n];
    this.start(n);
    await this.proceeds(5);
  }

  async stopOneInside(forMs: number): Promise<void> {
    const stopped = this.children[await this.somebodyInside()]!;
    stopped.kill("SIGSTOP");
    await pause(forMs);
    stopped.kill("SIGCONT");
    await this.proceeds(5);
  }

  /** Which of them has just begun a section that will take longer than anybody may be deaf. */
  somebodyInside(): Promise<number> {
    return new Promise((resolve) => (this.hearOfLong = resolve));
  }

  /** Until somebody has been inside again that many times. */
  async proceeds(times: number): Promise<void> {
    const target = this.tenures.size + times;
    for (const endMs = performance.now() + PATIENCE_MS; this.tenures.size < target; await pause(20))
      if (performance.now() > endMs)
        throw new Error(`nobody gets in any more, after ${this.tenures.size} times`);
  }

  /** Until ours have been inside, and the peers, if there are any. */
  async bothProceed(): Promise<void> {
    const has = (byPeer: boolean) => this.order.some((tenure) => tenure.byPeer === byPeer);
    while (!has(false) || (this.peers > 0 && !has(true))) await this.proceeds(1);
  }

  async end(): Promise<void> {
    for (const child of this.children) child.kill("SIGTERM");
    const late = setTimeout(() => this.children.forEach((child) => child.kill("SIGKILL")), 30_000);
    await Promise.all(this.ends);
    clearTimeout(late);
    await Promise.all(this.relays.map((relay) => relay.close()));
  }

  /** Nobody was inside while another one still believed to be, tokens grew, and nobody was kept waiting. */
  expectOrder(closesWithinMs: number): void {
    const { order } = this;
    expect(order.length).toBeGreaterThan(PROCESSES);
    expect(this.overlaps).toEqual([]);
    expect(this.outOfOrder).toEqual([]);
    expect(new Set(order.map(({ fence }) => fence)).size).toBe(order.length);
    // Peers know no slots.
    const slots = order.flatMap(({ slot, byPeer }) => (byPeer ? [] : [slot]));
    expect(new Set(slots).size).toBe(this.way === "slots" ? STORM_PERMITS : 1);
    const known = /^lock_(timeout|unavailable|lost)$/;
    expect(this.refusals.filter(({ code }) => !known.test(code))).toEqual([]);
    // A lock that is lost is so in the section, after however long a wait.
    const waits = this.refusals.filter(({ code }) => code !== "lock_lost");
    expect(waits.filter(({ tookMs }) => tookMs > TIMEOUT_MS + LATE_MS)).toEqual([]);
    expect(this.closings).toHaveLength(PROCESSES);
    expect(Math.max(...this.closings)).toBeLessThan(closesWithinMs + LATE_MS);
    reportStorm({ judged: order.length, kills: this.kills });
  }

  private start(n: number): void {
    const place = this.relays[n]?.url ?? this.place;
    const isPeer = n < this.peers;
    const child = isPeer ? startPeer(place) : startOurs(this.kind, place, this.way);
    this.children[n] = child;
    this.ends[n] = new Promise((resolve) => child.once("close", resolve));
    createInterface({ input: child.stdout! }).on("line", (line) => {
      if (line === "long") this.hearOfLong(n);
      else this.note(`${child.pid}`, line, isPeer);
    });
  }

  private note(pid: string, line: string, byPeer: boolean): void {
    const [what, first = "", second = "", slot = ""] = line.split(" ");
    if (what === "refused") this.refusals.push({ code: first, tookMs: Number(second) });
    if (what === "closed") this.closings.push(Number(first));
    if (what !== "held") return;
    const known = this.tenures.get(`${pid} ${first}`);
    if (known !== undefined) known.untilMs = Number(second);
    else {
      const [fromMs, untilMs] = [Number(second), Number(second)];
      this.tenures.set(`${pid} ${first}`, {
        fence: BigInt(first),
        slot: Number(slot),
        fromMs,
        untilMs,
        byPeer,
      });
    }
  }
}

function startOurs(kind: StormKind, place: string, way: StormWay): ChildProcess {
  const { file, args } = typescriptChild("lock-storm-child.ts", kind, place, String(TIMEOUT_MS), way);
  return spawn(file, args, { stdio: ["ignore", "pipe", "inherit"] });
}

function startPeer(endpoint: string): ChildProcess {
  const { ttlMs, waiterTtlMs, yieldMs, waiterPollMs } = QUICK_LEASE;
  const given = {
    peer: join(CHILDREN, "../../../examples/lease-peer"),
    endpoint,
    bucket: "locks",
    prefix: "storm",
    id: "hot",
    timeout_s: TIMEOUT_MS / 1_000,
    times: { ttl_ms: ttlMs, waiter_ttl_ms: waiterTtlMs, yield_ms: yieldMs, poll_ms: waiterPollMs },
  };
  return spawn("python3", ["-B", join(CHILDREN, "peers/lease_peer_storm_child.py")], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, LEASE_PEER_CHILD: JSON.stringify(given) },
  });
}
