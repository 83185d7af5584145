import { InMemoryAuditTrail } from "../../../src/infrastructure/persistence/memory/in-memory-audit-trail";
import { RecentHour } from "../../../src/interfaces/console/attention/recent-hour";
import { Container, ContainerModule } from "inversify";
import type { Express } from "express";
import { Registry } from "prom-client";
import type { BackgroundWork } from "../../../src/application/background/background-work";
import { Closers } from "../../../src/infrastructure/composition/opening/closers";
import { openHints, type OpenHints } from "../../../src/infrastructure/composition/opening/open-hints";
import { openSecrets } from "../../../src/infrastructure/composition/opening/open-secrets";
import type { OpenStore } from "../../../src/infrastructure/composition/opening/open-store";
import { gatewayModule } from "../../../src/infrastructure/composition/container/gateway-module";
import { locksModule } from "../../../src/infrastructure/composition/container/locks-module";
import { serverModule } from "../../../src/infrastructure/composition/container/server-module";
import { storeModule } from "../../../src/infrastructure/composition/container/store-module";
import { telemetryModule } from "../../../src/infrastructure/composition/container/telemetry-module";
import { tokens } from "../../../src/infrastructure/composition/container/tokens";
import { useCasesModule } from "../../../src/infrastructure/composition/container/use-cases-module";
import { readConfiguration } from "../../../src/infrastructure/configuration/configuration";
import { policyOf } from "../../../src/infrastructure/configuration/lock-timeouts";
import { LeaseLockProvider } from "../../../src/infrastructure/locking/lease/lease-lock-provider";
import type { LeaseRecordStore } from "../../../src/infrastructure/locking/lease/protocol/lease-record-store";
import { systemLockClock, type LockClock } from "../../../src/infrastructure/locking/lock-clock";
import type { OpenLocks } from "../../../src/infrastructure/locking/lock-kind";
import type { LockProviderSettings } from "../../../src/infrastructure/locking/lock-settings";
import { MemoryLockProvider } from "../../../src/infrastructure/locking/memory/memory-lock-provider";
import { NoOpLockProvider } from "../../../src/infrastructure/locking/none/no-op-lock-provider";
import { InMemoryConsoleSessionStore } from "../../../src/infrastructure/persistence/memory/in-memory-console-session-store";
import { InMemoryMerchantAccountStore } from "../../../src/infrastructure/persistence/memory/in-memory-merchant-account-store";
import { lockMetrics } from "../../../src/infrastructure/telemetry/lock-metrics";
import { makeLogger } from "../../../src/infrastructure/telemetry/logger";
import { atADistance, type Road } from "./distance";
import type { Counted, Ground, LocksOfWorld } from "./ground";
import { call, type WireAnswer, type WireRequest } from "./in-process-http";
import { signatureOfWorld } from "./gateway-news";
import { openWebhooksOfWorld } from "./listeners";
import type { Owner } from "./time/virtual-time";

/** The same in all of them, as it is set for all instances. */
const SECRETS_KEY = Buffer.alloc(32, 7).toString("base64");
const quiet = makeLogger("silent");
const EXPECTED = /^(StoreUnavailableError|Lock\w*Error|VersionConflictError|GatewayUnavailableError)$/;

function configurationOf(passSeconds: number) {
  return readConfiguration({
    flags: {
      store: "memory:",
      "pass-interval": String(passSeconds),
      "gateway-catch-up": "300",
      "sandbox-limit": "0",
    },
    environment: { HOLDFAST_SECRETS_KEY: SECRETS_KEY },
  });
}

/** One process of the server: the container and the HTTP app of the program, over what is outside of it. */
export class ServerProcess {
  readonly owner: Owner;
  private readonly closers = new Closers();
  private locks!: LocksOfProcess;
  private app!: Express;
  private background!: BackgroundWork;

  private constructor(
    private readonly ground: Ground,
    name: string,
  ) {
    this.owner = { name, isGone: false, frozenUntilMs: 0 };
  }

  /** Rejects as the program does that cannot be opened, because its store does not answer. */
  static async open(ground: Ground, name: string): Promise<ServerProcess> {
    const process = new ServerProcess(ground, name);
    ground.time.owner = process.owner;
    try {
      await process.open();
      return process;
    } catch (error) {
      process.kill();
      throw error;
    }
  }

  get isAlive(): boolean {
    return !this.owner.isGone;
  }

  /** kill -9: nothing that it has begun goes on, and whatever comes back finds nobody. */
  kill(): void {
    this.owner.isGone = true;
  }

  freeze(ms: number): void {
    this.owner.frozenUntilMs = this.ground.time.nowMs + ms;
  }

  /** Resolves what was sent, and how the caller hangs up. */
  request(wire: WireRequest, onAnswer: (answer: WireAnswer) => void): () => void {
    this.ground.count("requests");
    return call(this.app, wire, onAnswer);
  }

  /** As a signal ends it: what is under way is finished. Resolves with how many locks are held afterwards. */
  async close(): Promise<number> {
    this.ground.time.owner = this.owner;
    await this.background.stop();
    await this.closers.close();
    return this.locks.held();
  }

  private async open(): Promise<void> {
    const { ground, closers } = this;
    const { weather, passSeconds } = ground;
    const clock = { now: () => new Date(Date.now()) };
    const configuration = configurationOf(passSeconds);
    const registry = new Registry();
    const logger = Object.assign(Object.create(quiet) as typeof quiet, {
      error: ({ err }: { readonly err?: unknown }, what: string) => this.judge(err, what),
    });
    const passes = { lapsedAuthorizations: "passes", dueOperations: "passes" } as const;
    const payments = atADistance(ground.payments, this.road(weather.ofStore, passes));
    const store: OpenStore = {
      payments,
      eventFeed: atADistance(ground.feed, this.road(weather.ofStore)),
      webhooks: atADistance(ground.webhooks, this.road(weather.ofStore)),
      hints: atADistance(ground.hints, this.road(weather.ofStore, { settle: "hints" })),
      apiKeys: ground.apiKeys,
      merchantAccounts: new InMemoryMerchantAccountStore(),
      consoleSessions: new InMemoryConsoleSessionStore(ground.apiKeys),
      auditTrail: new InMemoryAuditTrail(),
      traceContexts: { keep: () => {}, ofOperation: async () => null, ofEvent: async () => null },
      telemetry: {},
      migration: { migrate: async () => ({ from: 0, to: 0 }) },
      lostLogs: () => [],
      openGatewayLedger: () => Promise.reject(new Error("the gateway is outside")),
    };
    const secrets = openSecrets(configuration.settings, store, clock);
    const timeouts = policyOf(configuration.lockTimeouts);
    this.locks = openLocksOfWorld(
      ground.locks,
      { timeouts, observer: lockMetrics(registry) },
      atADistance(ground.leases, this.road(weather.ofLeases)),
      ground.nextId,
    );
    closers.add(this.locks.close);
    const container = new Container({ defaultScope: "Singleton" });
    container.load(
      new ContainerModule(({ bind }) => {
        bind(tokens.configuration).toConstantValue(configuration);
        bind(tokens.closers).toConstantValue(closers);
        bind(tokens.clock).toConstantValue(clock);
        bind(tokens.ids).toConstantValue({ nextId: ground.nextId });
        bind(tokens.newSecret).toConstantValue(ground.nextId);
        bind(tokens.newSessionId).toConstantValue(ground.nextId);
      }),
      telemetryModule(
        {
          logger,
          metrics: registry,
          lockObserver: lockMetrics(new Registry()),
          recentHour: new RecentHour(),
        },
        undefined,
      ),
      locksModule({ kind: "memory" }, timeouts, this.locks),
      storeModule(store, secrets),
      gatewayModule(
        {
          gateway: atADistance(
            ground.gateway,
            this.road(() => undefined),
          ),
          events: {
            list: atADistance(
              ground.gatewayEvents,
              this.road(() => undefined),
            ),
            signed: signatureOfWorld,
            signedByAccount: signatureOfWorld,
          },
        },
        { askKeyOwner: () => Promise.reject(new Error("there are no accounts")), stripeApiKey: null },
      ),
      useCasesModule(),
    );
    await secrets.assertReadable();
    const webhooks = openWebhooksOfWorld(container, {
      sender: atADistance(
        ground.receivers,
        this.road(() => undefined, { send: "deliveries" }),
      ),
      box: await secrets.box(),
    });
    const hints: OpenHints = openHints(container);
    closers.add(() => webhooks.close());
    closers.add(() => hints.close());
    container.load(
      serverModule({
        version: "0.0.0",
        webhooks,
        hints,
        sandboxes: undefined,
        ownUrl: () => "http://holdfast.test",
        needsKeys: false,
        hasConsole: false,
      }),
    );
    this.app = container.get(tokens.httpApp);
    this.background = container.get(tokens.backgroundWork);
    this.background.start();
    webhooks.start();
    hints.start();
  }

  private road(fault: Road["fault"], counted: Readonly<Record<string, Counted>> = {}): Road {
    const { time, random, count } = this.ground;
    const onCall = (method: string): void => {
      const what = counted[method];
      if (what !== undefined) count(what);
    };
    return { time, random, owner: this.owner, fault, onCall };
  }

  /** What the program itself did not foresee is a defect, whoever was told what. */
  private judge(error: unknown, what: string): void {
    if (error instanceof Error && EXPECTED.test(error.name)) return;
    this.ground.complain(
      `${this.owner.name}: ${what}: ${error instanceof Error ? error.stack : String(error)}`,
    );
  }
}

interface LocksOfProcess extends OpenLocks {
  /** How many ids are locked, or wanted. */
  readonly held: () => number;
}

/** The machine never sleeps here; how long it is up would be real time. */
const { asleepMs: _, ...clock } = systemLockClock;

function openLocksOfWorld(
  kind: LocksOfWorld,
  given: LockProviderSettings,
  leases: LeaseRecordStore,
  nonce: () => string,
): LocksOfProcess {
  const settings = { ...given, clock: clock as LockClock };
  switch (kind) {
    case "memory": {
      const provider = new MemoryLockProvider(settings);
      return { provider, queues: provider, held: () => provider.size };
    }
    case "lease": {
      const environment = {
        clock: settings.clock,
        random: () => Math.random(),
        nonce,
        host: "world",
        pid: 1,
      };
      const provider = new LeaseLockProvider(leases, { ...settings, environment });
      return { provider, queues: provider, held: () => provider.size, close: () => provider.close() };
    }
    case "none":
      return { provider: new NoOpLockProvider(settings), held: () => 0 };
  }
}
