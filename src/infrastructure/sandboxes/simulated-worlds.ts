import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { SandboxClock } from "../../application/sandboxes/sandbox-clock";
import { SandboxError } from "../../application/sandboxes/sandbox-errors";
import { SandboxWorld, type SandboxWorlds } from "../../application/sandboxes/sandbox-world";
import { InMemoryGatewayLedger } from "../gateways/simulated/in-memory-gateway-ledger";
import { SimulatedGateway } from "../gateways/simulated/simulated-gateway";
import { UuidV7Generator } from "../identity/uuid-v7-generator";
import { InMemoryLockProvider } from "../locking/in-memory-lock-provider";
import type { LockProviderSettings } from "../locking/lock-settings";
import { InMemoryPaymentRepository } from "../persistence/in-memory-payment-repository";
import { paymentGuards, type Guard } from "../persistence/payment-guards";

export interface SimulatedWorldsSettings {
  /** In one sandbox. */
  readonly maxPayments: number;
  readonly locks: LockProviderSettings;
  readonly onError: (error: unknown) => void;
}

const contentSchema = z.strictObject({
  clock: z.iso.datetime(),
  /** Made when the snapshot was taken. The clock stands still, and ids that are made later still have to ascend. */
  lastId: z.uuid(),
  payments: z.unknown(),
  gateway: z.unknown(),
});

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
    const { clock, lastId, payments, gateway } = contentSchema.parse(content);
    const repository = this.repository();
    repository.restore(payments);
    const ledger = InMemoryGatewayLedger.restore(gateway);
    return this.world(new SandboxClock(new Date(clock)), repository, ledger, lastId);
  }

  private world(
    clock: SandboxClock,
    payments: InMemoryPaymentRepository,
    ledger: InMemoryGatewayLedger,
    lastId?: string,
  ): SandboxWorld {
    const ids = new UuidV7Generator(clock, lastId);
    const gateway = new SimulatedGateway({ ledger, clock });
    const world: SandboxWorld = new SandboxWorld({
      context: {
        locks: new InMemoryLockProvider(this.settings.locks),
        payments,
        gateway,
        clock,
        ids,
        random: Math.random,
        sleep: (ms) => sleep(ms),
      },
      authorizations: gateway,
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
          },
          revision: world.revision,
        })),
      storeRevision: () => payments.revision,
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
    const repository = new InMemoryPaymentRepository([...paymentGuards, room]);
    return repository;
  }
}
