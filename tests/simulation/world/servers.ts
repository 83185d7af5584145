import type { SeededRandom } from "../lease/seeded-random";
import type { Ground } from "./ground";
import { ServerProcess } from "./server-process";
import type { Owner } from "./time/virtual-time";

const MOST_STARTS = 200;
const RESTART_MS = 200;
const TROUBLE_EVERY_MS = 1_500;
/** Longer than a lease, than a loan, and than the gateway is waited for. */
const FROZEN_MS = [40, 400, 4_000, 12_000, 45_000] as const;
const FAULT_RATES = [0, 0.02, 0.05, 0.1, 0.3] as const;
/** What is begun is finished within the time of a request. */
const CLOSED_WITHIN_MS = 60_000;

/** The instances, and whoever starts them again. */
export class Servers {
  kills = 0;
  /** To be set by whoever has connections. */
  onDeath = (_server: ServerProcess): void => {};
  private readonly slots: (ServerProcess | undefined)[];
  private started = 0;

  constructor(
    private readonly ground: Ground,
    count: number,
    private readonly random: SeededRandom,
  ) {
    this.slots = Array.from({ length: count }, () => undefined);
  }

  readonly running = (): readonly (ServerProcess | undefined)[] => this.slots;

  async start(): Promise<void> {
    await Promise.all(this.slots.map((_, at) => this.startAt(at)));
  }

  /** Until it is over, and then everybody is there again. */
  async haveTrouble(callers: readonly Owner[], isOver: () => boolean): Promise<void> {
    const { random, ground } = this;
    const { time, weather } = ground;
    while (!isOver()) {
      await time.sleepOfWorld(random.until(TROUBLE_EVERY_MS));
      const at = Math.floor(random.next() * this.slots.length);
      const luck = random.next();
      if (luck < 0.3) await this.restart(at);
      else if (luck < 0.5) this.slots[at]?.freeze(random.pick(FROZEN_MS));
      else if (luck < 0.6) this.freeze(random.pick(callers as [Owner, ...Owner[]]), random.pick(FROZEN_MS));
      else if (luck < 0.7) await this.storeGoesAway();
      else weather.faultRate = random.pick(FAULT_RATES);
    }
  }

  /** Everything stops where it is, hours pass, and so many are started again. */
  async pause(ms: number, instances = this.slots.length): Promise<void> {
    for (const at of this.slots.keys()) this.kill(at);
    await this.ground.time.sleepOfWorld(RESTART_MS);
    this.slots.length = instances;
    this.ground.time.leap(ms);
    await this.start();
  }

  /** As an operator stops them. Resolves with what was left behind. */
  async close(): Promise<string[]> {
    const { time } = this.ground;
    const found: string[] = [];
    for (const server of this.slots) {
      if (server === undefined) continue;
      const { owner } = server;
      const late = time.sleepOfWorld(CLOSED_WITHIN_MS).then(() => null);
      const held = await Promise.race([server.close(), late]);
      if (held === null) found.push(`${owner.name} does not end`);
      else if (held > 0) found.push(`${owner.name} has ended, and ${held} locks are held`);
      await late;
      const timers = time.planned((one) => one === owner);
      if (held !== null && timers > 0)
        found.push(`${owner.name} has ended, and ${timers} of its timers have not`);
      server.kill();
    }
    return found;
  }

  private async storeGoesAway(): Promise<void> {
    const { time, weather } = this.ground;
    weather.isStoreAway = true;
    await time.sleepOfWorld(this.random.between(10, 5_000));
    weather.isStoreAway = false;
  }

  private freeze(owner: Owner, ms: number): void {
    owner.frozenUntilMs = this.ground.time.nowMs + ms;
  }

  private async restart(at: number): Promise<void> {
    this.kill(at);
    await this.ground.time.sleepOfWorld(this.random.between(0, 3_000));
    await this.startAt(at);
  }

  private kill(at: number): void {
    const server = this.slots[at];
    if (server === undefined) return;
    server.kill();
    this.slots[at] = undefined;
    this.kills += 1;
    this.onDeath(server);
  }

  /** A server does not start while its store does not answer. */
  private async startAt(at: number): Promise<void> {
    for (let attempt = 0; attempt < MOST_STARTS; attempt += 1) {
      this.started += 1;
      try {
        this.slots[at] = await ServerProcess.open(this.ground, `server ${this.started}`);
        return;
      } catch (error) {
        if ((error as { code?: string }).code !== "service_unavailable") throw error;
        await this.ground.time.sleepOfWorld(RESTART_MS);
      }
    }
    throw new Error("no server can be started");
  }
}
