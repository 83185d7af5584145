import { anAct } from "../../support/an-act";
import { createHash } from "node:crypto";
import { publicEventWire } from "../../../src/application/public-events/public-event";
import { ManageApiKeys } from "../../../src/application/use-cases/manage-api-keys";
import { SimulatedGateway } from "../../../src/infrastructure/gateways/simulated/simulated-gateway";
import { MemoryLeaseRecordStore } from "../../../src/infrastructure/locking/lease/memory/memory-lease-record-store";
import { InMemoryApiKeyStore } from "../../../src/infrastructure/persistence/memory/in-memory-api-key-store";
import { InMemoryHintStore } from "../../../src/infrastructure/persistence/memory/in-memory-hint-store";
import { InMemoryPaymentRepository } from "../../../src/infrastructure/persistence/memory/in-memory-payment-repository";
import { InMemoryWebhookStore } from "../../../src/infrastructure/persistence/memory/webhooks/in-memory-webhook-store";
import { SeededRandom } from "../lease/seeded-random";
import { merchant } from "../payment-life/life-commands";
import { UnreliableNetwork } from "../payment-life/unreliable-network";
import { GatewayNews, signed } from "./gateway-news";
import { Weather, type Counted, type Ground, type LocksOfWorld } from "./ground";
import { isAtRest, judgements } from "./judgements";
import { Network } from "./network";
import { Callers, everyPaymentMethod, Operators } from "./people";
import { FeedReader, Receivers, registerReceivers } from "./listeners";
import { Servers } from "./servers";
import { VirtualTime, type Owner } from "./time/virtual-time";

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const CALLERS = 6;
/** Between them nothing runs for hours, so that schedules get on. */
const BUSY_PHASES = 3;
const LEAPS_WHILE_BUSY = [HOUR / 2, 2 * HOUR, 7 * HOUR] as const;
/** In each of them everything that is due gets its turn, persons decide, and then hours pass. */
const QUIET_ROUNDS = 20;
const LEAP_WHILE_QUIET = 25 * HOUR;
const FEWEST_QUIET_ROUNDS = 1;
const ROUND_MS = 12 * SECOND;
const SPEAKS_EVERY_MS = 300;
const REVIEWED_EVERY_MS = 5 * SECOND;
const MOST_FAILURES = 10;

/** A mistake, made between the program and what is around it. */
export interface Plant {
  readonly ground?: (ground: Ground) => Partial<Ground>;
  readonly answers?: (text: string) => string;
}

export interface WorldOptions {
  readonly seed: number;
  /** How many there are about, before the weather gets better. */
  readonly operations: number;
  readonly plant?: Plant;
  /** What payments are made with. Left out: with everything that the simulated gateway knows. */
  readonly paymentMethods?: readonly [string, ...string[]];
}

export interface WorldResult {
  /** What is wrong, one each. */
  readonly failures: readonly string[];
  readonly counted: Readonly<Record<Counted, number>>;
  readonly payments: number;
  /** Payments whose history has too many explanations to be judged. */
  readonly unjudged: number;
  readonly answered: number;
  readonly kills: number;
  readonly verdicts: number;
  readonly steps: number;
  /** Of everything that was heard, moved, told and ended, in its order. */
  readonly digest: string;
}

/** The whole server, what is around it, and everything that can happen to both, out of one seed. */
export class World {
  private readonly random: SeededRandom;
  private readonly root: Owner = { name: "world", isGone: false, frozenUntilMs: 0 };
  private readonly time: VirtualTime;
  private readonly weather: Weather;
  private readonly trace = createHash("sha256");
  private readonly failures: string[] = [];
  private readonly counted: Record<Counted, number> = { requests: 0, deliveries: 0, passes: 0, hints: 0 };
  private ids = 0;
  private unjudged = 0;
  private isOver = false;

  constructor(private readonly options: WorldOptions) {
    this.random = new SeededRandom(options.seed);
    this.time = new VirtualTime(this.root, this.random.fork());
    this.weather = new Weather(this.random.fork());
  }

  async run(): Promise<WorldResult> {
    const uninstall = this.time.install();
    try {
      return await this.time.run(() => this.live());
    } finally {
      uninstall();
    }
  }

  private async live(): Promise<WorldResult> {
    const { random, time, weather } = this;
    const now = () => new Date(Date.now());
    const payments = new InMemoryPaymentRepository();
    const news = new GatewayNews();
    const ledger = news.ledger(now);
    const simulated = new SimulatedGateway({ ledger, clock: { now }, sleep: time.sleepOfWorld });
    const road = new UnreliableNetwork(simulated, random.fork(), weather.fault, true);
    const receivers = new Receivers(time, random.fork());
    const keys = new InMemoryApiKeyStore();
    const manage = new ManageApiKeys(keys, { now }, { nextId: this.nextId }, () => `hf_${"k".repeat(32)}`);
    const { secret } = await manage.create({ merchant, operator: true, name: null }, anAct);
    const locks = random.pick<LocksOfWorld>(["memory", "memory", "lease", "lease", "none"]);
    const plain: Ground = {
      time,
      random: random.fork(),
      weather,
      payments,
      feed: payments.feed,
      events: () => payments.feed.all().map(publicEventWire),
      webhooks: new InMemoryWebhookStore((event) => payments.feed.append([event])),
      hints: new InMemoryHintStore(),
      apiKeys: keys,
      gateway: road,
      gatewayEvents: news,
      receivers,
      leases: new MemoryLeaseRecordStore(),
      locks,
      passSeconds: random.pick([1, 2, 5]),
      nextId: this.nextId,
      count: (what) => (this.counted[what] += 1),
      complain: (what) => this.complain(what),
    };
    const ground = { ...plain, ...this.options.plant?.ground?.(plain) };
    const servers = new Servers(ground, locks === "memory" ? 1 : random.pick([2, 3]), random.fork());
    const network = new Network({
      time,
      random: random.fork(),
      apiKey: secret,
      servers: servers.running,
      onHeard: ({ path }, { status, text }) => this.note(path, status, text),
      ...(this.options.plant?.answers && { distort: this.options.plant.answers }),
    });
    const callers = new Callers({
      time,
      random: random.fork(),
      network,
      callsEach: random.pick([30, 60]),
      thinkMs: random.pick([20, 100, 400]),
      paymentMethods: this.options.paymentMethods ?? everyPaymentMethod,
    });
    const owners = Array.from({ length: CALLERS }, (_, n) => this.owner(`caller ${n}`));
    const person = this.owner("operator");
    const operators = new Operators(network, ledger, person);
    const reader = new FeedReader(network, this.owner("reader"));
    servers.onDeath = (server) => network.died(server);
    await servers.start();
    await registerReceivers(network, person);

    const following = reader.follow(time, () => this.isOver);
    const speaking = this.gatewaySpeaks(news, road, network);
    for (let phase = 0; phase < BUSY_PHASES; phase += 1) {
      const until = (this.options.operations * (phase + 1)) / BUSY_PHASES;
      const isOver = () => this.operations >= until || this.failures.length > 0;
      await Promise.all([
        ...owners.map((owner) => callers.work(owner, isOver)),
        servers.haveTrouble(owners, isOver),
        this.reviewed(operators, isOver),
      ]);
      await this.hoursPass(servers, road, random.pick(LEAPS_WHILE_BUSY));
    }

    receivers.isFine = true;
    for (let round = 0; round < QUIET_ROUNDS; round += 1) {
      await time.sleepOfWorld(ROUND_MS);
      const [cases, open] = [await operators.look(), await callers.end(owners[0]!)];
      if (open.length === 0 && cases === 0 && round >= FEWEST_QUIET_ROUNDS && (await isAtRest(plain))) break;
      await this.hoursPass(servers, road, LEAP_WHILE_QUIET, 1);
    }
    this.failures.push(...(await callers.end(owners[0]!)));
    await callers.lookAtAll(owners[0]!);
    await time.sleepOfWorld(ROUND_MS);
    this.isOver = true;
    await Promise.all([following, speaking]);
    this.failures.push(...(await servers.close()));
    const onTooWide = () => (this.unjudged += 1);
    const evidence = { onTooWide, network, ground: plain, ledger };
    this.failures.push(...(await judgements({ ...evidence, told: reader.told, taken: receivers.taken })));
    for (const { receiver, id } of receivers.taken) this.trace.update(`${receiver} ${id}`);
    return {
      failures: this.failures,
      counted: this.counted,
      payments: payments.size,
      unjudged: this.unjudged,
      answered: network.history.filter(({ answer }) => answer !== null).length,
      kills: servers.kills,
      verdicts: operators.verdicts,
      steps: time.steps,
      digest: this.trace.digest("hex"),
    };
  }

  private get operations(): number {
    const { requests, deliveries, passes, hints } = this.counted;
    return requests + deliveries + passes + hints;
  }

  private readonly nextId = (): string => {
    this.ids += 1;
    return `00000000-0000-7000-8000-${this.ids.toString(16).padStart(12, "0")}`;
  };

  private owner(name: string): Owner {
    return { name, isGone: false, frozenUntilMs: 0 };
  }

  private complain(what: string): void {
    if (this.failures.length < MOST_FAILURES) this.failures.push(what);
  }

  /** What is not on its way any more when hours have passed never arrives: no person could decide about it. */
  private async hoursPass(servers: Servers, road: UnreliableNetwork, ms: number, instances?: number) {
    this.weather.clears();
    await road.allArrive();
    await servers.pause(ms, instances);
  }

  private async reviewed(operators: Operators, isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      await this.time.sleepOfWorld(this.random.until(REVIEWED_EVERY_MS));
      await operators.look();
    }
  }

  /** Events come late, twice, out of order or never, and what was late on its way to the gateway arrives. */
  private async gatewaySpeaks(news: GatewayNews, road: UnreliableNetwork, network: Network): Promise<void> {
    const { random, time } = this;
    const gateway = this.owner("gateway");
    while (!this.isOver) {
      await time.sleepOfWorld(random.until(SPEAKS_EVERY_MS));
      if (random.chance(0.3)) await road.arrive();
      const latest = news.all.at(-1 - Math.floor(random.next() * random.next() * 20));
      if (latest === undefined) continue;
      const { headers, body } = signed(latest);
      const path = "/gateway-events/stripe";
      await network.ask(gateway, {
        method: "POST",
        path,
        key: null,
        body: JSON.parse(body) as object,
        headers,
      });
    }
  }

  private note(...what: readonly (string | number)[]): void {
    this.trace.update(what.join(" "));
  }
}
