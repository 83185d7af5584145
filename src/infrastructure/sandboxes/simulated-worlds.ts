import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { SecretBox } from "../../application/ports/events/secret-box";
import type { WebhookDestinations, WebhookSender } from "../../application/ports/events/webhook-sender";
import { webhookLimits, type WebhookLimits } from "../../application/webhooks/webhook-limits";
import type { WebhookObserver } from "../../application/webhooks/webhook-observer";
import { SandboxClock } from "../../application/sandboxes/world/sandbox-clock";
import { SandboxError } from "../../application/sandboxes/sandbox-errors";
import { SandboxWorld, type SandboxWorlds } from "../../application/sandboxes/world/sandbox-world";
import { InMemoryGatewayLedger } from "../gateways/simulated/ledgers/in-memory-gateway-ledger";
import { SimulatedGateway } from "../gateways/simulated/simulated-gateway";
import { UuidV7Generator } from "../identity/uuid-v7-generator";
import { MemoryLockProvider } from "../locking/memory/memory-lock-provider";
import type { LockProviderSettings } from "../locking/lock-settings";
import { InMemoryPaymentRepository } from "../persistence/memory/in-memory-payment-repository";
import { inMemoryGuards, type Guard } from "../persistence/memory/in-memory-guards";
import { InMemoryWebhookStore } from "../persistence/memory/webhooks/in-memory-webhook-store";
import { restoredWebhooks, webhooksSnapshot } from "../persistence/webhooks/webhooks-snapshot";
import { SystemClock } from "../time/system-clock";

/** What sandboxes share with one another: where webhooks may go, and what seals their secrets. */
export interface SandboxWebhooks {
  readonly sender: WebhookSender;
  readonly destinations: WebhookDestinations;
  readonly secrets: SecretBox;
  readonly observer: WebhookObserver;
}

export interface SimulatedWorldsSettings {
  /** In one sandbox. */
  readonly maxPayments: number;
  readonly locks: LockProviderSettings;
  readonly webhooks: SandboxWebhooks;
  readonly onError: (error: unknown) => void;
}

const contentSchema = z.strictObject({
  clock: z.iso.datetime(),
  /** Made when the snapshot was taken. The clock stands still, and ids that are made later still have to ascend. */
  lastId: z.uuid(),
  payments: z.unknown(),
  gateway: z.unknown(),
  /** Snapshots from before there were webhooks have none. */
  webhooks: z.unknown().optional(),
});

/** One process has it, so a loan need not end while an attempt is under way. */
const SANDBOX_LIMITS: WebhookLimits = { ...webhookLimits, endpoints: 100, leaseMs: 60_000 };

/**
 * Worlds in memory, in front of a simulated gateway each. There is no way to give them another one: nothing that
 * happens in a sandbox can reach a real gateway, a store that outlives it, or another sandbox.
 */
export class SimulatedWorlds implements SandboxWorlds {
  constructor(private readonly settings: SimulatedWorldsSettings) {}

  create(now: Date): SandboxWorld {
    return this.world(new SandboxClock(now), this.repository(), new InMemoryGatewayLedger());
  }

  restore(content: unknown): SandboxWorld {
    const { clock, lastId, payments, gateway, webhooks } = contentSchema.parse(content);
    const repository = this.repository();
    repository.restore(payments);
    const ledger = InMemoryGatewayLedger.restore(gateway);
    return this.world(new SandboxClock(new Date(clock)), repository, ledger, lastId, webhooks);
  }

  private world(
    clock: SandboxClock,
    payments: InMemoryPaymentRepository,
    ledger: InMemoryGatewayLedger,
    lastId?: string,
    webhooks?: unknown,
  ): SandboxWorld {
    const ids = new UuidV7Generator(clock, lastId);
    const gateway = new SimulatedGateway({ ledger, clock });
    const store = new InMemoryWebhookStore((event) => payments.feed.append([event]));
    if (webhooks !== undefined) store.restore(restoredWebhooks(webhooks));
    const world: SandboxWorld = new SandboxWorld({
      locks: new MemoryLockProvider(this.settings.locks),
      operations: {
        payments,
        gateway,
        clock,
        ids,
        random: Math.random,
        sleep: (ms) => sleep(ms),
      },
      authorizations: gateway,
      customerPages: gateway.customerPages,
      eventFeed: payments.feed,
      webhooks: {
        context: {
          ...this.settings.webhooks,
          store,
          feed: payments.feed,
          clock,
          wallClock: new SystemClock(),
          monotonicMs: () => performance.now(),
          ids,
          // Whoever plays a schedule wants to know when.
          random: () => 0.5,
          limits: SANDBOX_LIMITS,
        },
        destinations: this.settings.webhooks.destinations,
        randomBytes,
      },
      clock,
      // In one turn, while the gateway is at rest: an operation is in it before, between or after its steps, as after a
      // crash at that point, and never with a gateway that knows less or more than its caller could have told it.
      takeContent: () =>
        ledger.snapshotTogether((memory) => ({
          content: {
            clock: clock.now().toISOString(),
            lastId: ids.nextId(),
            payments: payments.snapshot(),
            gateway: memory,
            webhooks: webhooksSnapshot(store.content()),
          },
          revision: world.revision,
        })),
      storeRevision: () => payments.revision + store.revision,
      countPayments: () => payments.size,
      onError: this.settings.onError,
    });
    return world;
  }

  private repository(): InMemoryPaymentRepository {
    const { maxPayments } = this.settings;
    const room: Guard<string> = {
      name: "room",
      refuses: ({ expectedVersion }) => expectedVersion === "new" && repository.size >= maxPayments,
      error: () =>
        new SandboxError(
          "sandbox_full",
          `this sandbox has ${maxPayments} payments, and no more: make a new one, or one from an earlier snapshot`,
        ),
    };
    // Last: a key that is taken gets its payment, however full it is here.
    const repository = new InMemoryPaymentRepository([...inMemoryGuards, room]);
    return repository;
  }
}
