import type { HandoffLock } from "../../../src/application/ports/handoff-lock";
import type { SandboxEvent } from "../../../src/application/sandboxes/sandbox-events";
import {
  parseSandboxId,
  sandboxResourceId,
  type SandboxId,
} from "../../../src/application/sandboxes/sandbox-ids";
import { sandboxLimits, type SandboxLimits } from "../../../src/application/sandboxes/sandbox-limits";
import {
  parseManifest,
  type SandboxManifest,
} from "../../../src/application/sandboxes/snapshots/sandbox-manifest";
import type { SandboxWorld } from "../../../src/application/sandboxes/world/sandbox-world";
import { Sandboxes } from "../../../src/application/sandboxes/sandboxes";
import {
  parseIdempotencyKey,
  parseMerchantId,
  type MerchantId,
  type PaymentId,
} from "../../../src/domain/identifiers";
import { money, parseCurrency } from "../../../src/domain/money";
import { UuidV7Generator } from "../../../src/infrastructure/identity/uuid-v7-generator";
import { silentWebhooks } from "./sandbox-webhooks";
import { SimulatedWorlds } from "../../../src/infrastructure/sandboxes/simulated-worlds";
import { MemorySnapshotStore } from "../../../src/infrastructure/snapshots/memory-snapshot-store";
import { LeaseWorld, type LeaseProcess } from "./lease-world";
import { ScriptedSnapshotStore } from "../fakes/scripted-snapshot-store";

export const merchant: MerchantId = parseMerchantId("acme");

export interface SandboxInstance {
  readonly url: string;
  readonly sandboxes: Sandboxes;
  readonly store: ScriptedSnapshotStore;
  readonly process: LeaseProcess;
  readonly events: SandboxEvent[];
  /** How often the owner's handler was told that somebody waits. */
  timesAsked: number;
  /** Locks taken and not given back. */
  readonly owned: Set<HandoffLock>;
}

/** Several instances on virtual time: one record store for their locks, one snapshot store. */
export class SandboxInstances {
  readonly leases = new LeaseWorld();
  readonly shared = new MemorySnapshotStore();
  private readonly all: SandboxInstance[] = [];

  instance(
    name: string,
    limits: Partial<SandboxLimits> = {},
    { maxPayments = 1_000 }: { maxPayments?: number } = {},
  ): SandboxInstance {
    const process = this.leases.process(name, { ttlMs: 15_000 });
    const store = new ScriptedSnapshotStore(this.shared);
    const { clock: time } = this.leases;
    const clock = { now: () => new Date(time.wallMs()) };
    const url = `http://${name}.test`;
    const events: SandboxEvent[] = [];
    const owned = new Set<HandoffLock>();
    const watched = (lock: HandoffLock): HandoffLock => ({
      acquire: async (options) => {
        const hold = await lock.acquire(options);
        owned.add(lock);
        return hold;
      },
      release: () => {
        owned.delete(lock);
        return lock.release();
      },
      onLost: (handler) => lock.onLost(handler),
      onReleaseRequested: (handler) =>
        lock.onReleaseRequested(() => {
          instance.timesAsked += 1;
          handler();
        }),
    });
    const sandboxes = new Sandboxes({
      lockFactory: (id) => watched(process.locks.handoffLock(sandboxResourceId(id))),
      snapshots: store,
      worlds: new SimulatedWorlds({
        maxPayments,
        locks: {},
        webhooks: silentWebhooks(),
        onError: (error) => {
          throw error;
        },
      }),
      limits: { ...sandboxLimits, ...limits },
      clock,
      timers: time,
      ids: new UuidV7Generator(clock),
      observer: { notify: (event) => void events.push(event) },
      ownUrl: () => url,
    });
    const instance: SandboxInstance = { url, sandboxes, store, process, events, timesAsked: 0, owned };
    this.all.push(instance);
    return instance;
  }

  async manifest(id: SandboxId): Promise<SandboxManifest> {
    const stored = await this.shared.readManifest(id);
    if (stored === null) throw new Error(`${id} has no manifest`);
    return parseManifest(stored.text, id);
  }

  pass(ms: number): Promise<void> {
    return this.leases.clock.advance(ms);
  }

  /** Lets time go by until it is settled. */
  async passing<T>(work: Promise<T>, stepMs = 100): Promise<T> {
    let over = false;
    const end = (): void => void (over = true);
    work.then(end, end);
    for (let steps = 0; !over && steps < 1_000; steps += 1) await this.pass(stepMs);
    return work;
  }

  async close(): Promise<void> {
    for (const { sandboxes } of this.all) await this.passing(sandboxes.close());
    const left = this.all.flatMap(({ owned }) => [...owned]);
    if (left.length > 0) throw new Error(`${left.length} locks were not released`);
    await this.leases.close();
  }
}

/** From here on its requests about locks go unanswered, as of a process that was killed or stopped. */
export function silence({ process }: SandboxInstance): void {
  for (let index = 0; index < 1_000; index += 1) {
    process.store.next("read", () => new Promise(() => undefined));
    process.store.next("write", () => new Promise(() => undefined));
  }
}

export async function newSandbox({ sandboxes }: SandboxInstance, fromSnapshot?: string): Promise<SandboxId> {
  return (await sandboxes.create(merchant, fromSnapshot)).id;
}

export async function authorize(
  { sandboxes }: SandboxInstance,
  id: SandboxId,
  key: string,
  { expiresInSeconds = 3_600, paymentMethod = "tok_ok" } = {},
): Promise<PaymentId> {
  const { payment } = await sandboxes.use(id, merchant, (world) =>
    world.payments.authorizePayment.execute(
      {
        idempotencyKey: parseIdempotencyKey(key),
        amount: money(1_000n, parseCurrency("EUR")),
        paymentMethod,
        reference: key,
        metadata: {},
        expiresInSeconds,
      },
      { merchant, actor: { key: "test" } },
    ),
  );
  return payment.facts.id;
}

export function capture({ sandboxes }: SandboxInstance, id: SandboxId, paymentId: PaymentId, key: string) {
  return sandboxes.use(id, merchant, (world) => captureIn(world, paymentId, key));
}

export function captureIn(world: SandboxWorld, paymentId: PaymentId, key: string) {
  return world.payments.capturePayment.execute(
    { paymentId, idempotencyKey: parseIdempotencyKey(key) },
    { merchant, actor: { key: "test" } },
  );
}

/** The references of the payments that are there, oldest first. */
export function references({ sandboxes }: SandboxInstance, id: SandboxId): Promise<(string | null)[]> {
  return sandboxes.use(id, merchant, async ({ payments: { readPayments } }) => {
    const { data } = await readPayments.list({ merchant, limit: 100 });
    return data.map(({ facts }) => facts.reference).reverse();
  });
}

export const unknownId = parseSandboxId("01a1ee1d-0000-7000-8000-000000000001");
