import { setTimeout as pause } from "node:timers/promises";
import type { HoldfastProcess } from "../../support/program/holdfast-process";

const MOST_STARTS = 5;

/** The instances of a storm: each may be killed and started again, or frozen, and answers or not. */
export class StormServers {
  private readonly running: HoldfastProcess[];
  private readonly urls: string[] = [];
  kills = 0;

  private constructor(
    private readonly start: (at: number) => HoldfastProcess,
    instances: number,
  ) {
    this.running = Array.from({ length: instances }, (_, at) => start(at));
  }

  static async open(instances: number, start: (at: number) => HoldfastProcess): Promise<StormServers> {
    const servers = new StormServers(start, instances);
    await Promise.all(servers.running.map(async (one, at) => (servers.urls[at] = await one.url())));
    return servers;
  }

  /** Of one of them, in turn. It need not be there. */
  url(turn: number): string {
    return this.urls[turn % this.urls.length]!;
  }

  /** As `kill -9` does, and then as a supervisor does. */
  async killAndRestart(at: number): Promise<void> {
    await this.running[at]!.end("SIGKILL");
    this.kills += 1;
    // A server does not start while its locks or its store do not answer.
    for (let attempt = 1; ; attempt += 1) {
      this.running[at] = this.start(at);
      try {
        this.urls[at] = await this.running[at].url();
        return;
      } catch (error) {
        if (attempt === MOST_STARTS) throw error;
      }
    }
  }

  /** Stops it where it is; it does not notice when it wakes up. */
  async freeze(at: number, forMs: number): Promise<void> {
    const frozen = this.running[at]!;
    frozen.signal("SIGSTOP");
    try {
      await pause(forMs);
    } finally {
      frozen.signal("SIGCONT");
    }
  }

  async allThere(): Promise<void> {
    await Promise.all(this.running.map((one) => one.url()));
  }

  async end(): Promise<void> {
    await Promise.all(this.running.map((one) => one.end("SIGKILL")));
  }
}
