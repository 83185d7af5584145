import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { tcpRelayTo, type TcpRelay } from "../servers/tcp-relay";
import { typescriptChild } from "../children/typescript-child";

/** `nothing`: a lock that excludes nobody, which the storm has to find out. */
export type StormKind = "postgres" | "redis" | "gcs" | "kernel" | "exclusive-create" | "nothing";

export const PROCESSES = 5;
const TIMEOUT_MS = 1_000;
/** What waits and closes may take beyond their bound, not counting when the machine did not let the process run. */
const LATE_MS = 100;
const PATIENCE_MS = 120_000;

interface Tenure {
  readonly fence: bigint;
  readonly fromMs: number;
  /** The last moment at which it was certain to be inside. */
  untilMs: number;
}

/** Several processes that want one lock, killed and stopped as the test likes; to a service, each over a relay of its own. */
export class Storm {
  readonly relays: TcpRelay[] = [];
  readonly refusals: { readonly code: string; readonly tookMs: number }[] = [];
  readonly closings: number[] = [];
  private readonly tenures = new Map<string, Tenure>();
  private readonly children: ChildProcess[] = [];
  private readonly ends: Promise<unknown>[] = [];
  private hearOfLong: (n: number) => void = () => {};

  private constructor(
    private readonly kind: StormKind,
    private readonly place: string,
  ) {}

  /** `place`: the service's URL, or a folder. */
  static async begin(kind: StormKind, place: string): Promise<Storm> {
    const storm = new Storm(kind, place);
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

  /** Those who were inside while the one before still believed to be. */
  get overlaps(): readonly Tenure[] {
    const { order } = this;
    return order.filter(({ fromMs }, n) => n > 0 && fromMs < order[n - 1]!.untilMs);
  }

  async killOneInside(): Promise<void> {
    const n = await this.somebodyInside();
    this.children[n]!.kill("SIGKILL");
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
    expect(order.filter(({ fence }, n) => n > 0 && fence <= order[n - 1]!.fence)).toEqual([]);
    const known = /^lock_(timeout|unavailable|lost)$/;
    expect(this.refusals.filter(({ code }) => !known.test(code))).toEqual([]);
    // A lock that is lost is so in the section, after however long a wait.
    const waits = this.refusals.filter(({ code }) => code !== "lock_lost");
    expect(waits.filter(({ tookMs }) => tookMs > TIMEOUT_MS + LATE_MS)).toEqual([]);
    expect(this.closings).toHaveLength(PROCESSES);
    expect(Math.max(...this.closings)).toBeLessThan(closesWithinMs + LATE_MS);
  }

  private start(n: number): void {
    const place = this.relays[n]?.url ?? this.place;
    const { file, args } = typescriptChild("lock-storm-child.ts", this.kind, place, String(TIMEOUT_MS));
    const child = spawn(file, args, { stdio: ["ignore", "pipe", "inherit"] });
    this.children[n] = child;
    this.ends[n] = new Promise((resolve) => child.once("close", resolve));
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (line === "long") this.hearOfLong(n);
      else this.note(`${child.pid}`, line);
    });
  }

  private note(pid: string, line: string): void {
    const [what, first = "", second = ""] = line.split(" ");
    if (what === "refused") this.refusals.push({ code: first, tookMs: Number(second) });
    if (what === "closed") this.closings.push(Number(first));
    if (what !== "held") return;
    const known = this.tenures.get(`${pid} ${first}`);
    if (known !== undefined) known.untilMs = Number(second);
    else {
      const [fromMs, untilMs] = [Number(second), Number(second)];
      this.tenures.set(`${pid} ${first}`, { fence: BigInt(first), fromMs, untilMs });
    }
  }
}
