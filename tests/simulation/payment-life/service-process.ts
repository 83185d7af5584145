import type { AuthorizationLookup } from "../../../src/application/ports/authorization-lookup";
import type { PaymentGateway } from "../../../src/application/ports/payment-gateway";
import type { OperationContext } from "../../../src/application/operations/operation-context";
import type { LockHold, LockProvider } from "../../../src/application/ports/lock-provider";
import { LockLostError } from "../../../src/application/ports/lock-errors";
import {
  StoreUnavailableError,
  VersionConflictError,
  type PaymentRepository,
} from "../../../src/application/ports/payment-repository";
import type { Payment } from "../../../src/domain/payment/payment";
import { MemoryLockProvider } from "../../../src/infrastructure/locking/memory/memory-lock-provider";
import { NoOpLockProvider } from "../../../src/infrastructure/locking/none/no-op-lock-provider";
import type { SeededRandom } from "../lease/seeded-random";
import type { LifeProfile } from "./life-profile";
import type { Turnstile } from "./turnstile";

export interface World {
  readonly turnstile: Turnstile;
  readonly random: SeededRandom;
  readonly locks: LifeProfile["locks"];
  /** How likely each thing that can fail is to, at the moment. */
  faultRate: number;
  readonly payments: PaymentRepository;
  /** With the network in between. */
  readonly gateway: PaymentGateway & AuthorizationLookup;
  readonly now: () => Date;
  readonly nextId: () => string;
}

/** One process of the service: locks of its own, a clock that may be wrong, and an end between any two awaits. */
export class ServiceProcess {
  clockOffsetMs = 0;
  /** So many of its next questions to the store are not answered. */
  withoutStore = 0;
  readonly locks: LockProvider;
  readonly context: OperationContext;
  readonly gateway: PaymentGateway & AuthorizationLookup;
  /** Nobody hears what a dead one makes of its timers. */
  private alive = true;

  constructor(private readonly world: World) {
    const { random, nextId, payments } = world;
    // Told, so that it forgets its timers; nobody hears what it makes of that.
    this.gateway = this.stepwise(world.gateway, "told");
    this.locks = this.lockProvider();
    this.context = {
      payments: this.stepwise(payments, "forgotten", (name, args) => this.storeFault(name, args)),
      gateway: this.gateway,
      clock: { now: () => new Date(world.now().getTime() + this.clockOffsetMs) },
      ids: { nextId },
      random: () => random.next(),
      sleep: () => world.turnstile.pass(this, "forgotten"),
    };
  }

  get isAlive(): boolean {
    return this.alive;
  }

  /** kill -9: whatever it was about to do does not happen, and whatever comes back finds nobody. */
  kill(): void {
    this.alive = false;
    this.world.turnstile.abandonAll(this);
  }

  private lockProvider(): LockProvider {
    const { locks, random } = this.world;
    if (locks === "memory") return new MemoryLockProvider();
    const none = new NoOpLockProvider();
    if (locks === "none") return none;
    return {
      withLock: (id, section, options) =>
        none.withLock(id, (hold) => section(sometimesLost(hold, random, this.world.faultRate)), options),
    };
  }

  /** Before and after each call the process waits for its turn; in between is when the call is done. */
  private stepwise<T extends object>(target: T, onEnd: "forgotten" | "told", fault?: StoreFault): T {
    const { turnstile } = this.world;
    return new Proxy(target, {
      get: (object, name) => {
        const member: unknown = Reflect.get(object, name, object);
        if (typeof member !== "function") return member;
        return async (...args: unknown[]) => {
          await this.turn(onEnd);
          const failure = fault?.(name, args);
          if (failure?.when === "before") throw failure.error;
          const result: unknown = await turnstile.during(
            async () => (await Reflect.apply(member, object, args)) as unknown,
          );
          await this.turn(onEnd);
          if (failure !== undefined) throw failure.error;
          return result;
        };
      },
    });
  }

  /** What was asked of the store is not done, or it is done and nobody says so, or somebody was faster, as it seems. */
  private storeFault(...[name, args]: Parameters<StoreFault>): ReturnType<StoreFault> {
    const { random, faultRate } = this.world;
    if (this.withoutStore > 0) {
      this.withoutStore -= 1;
      return { when: "before", error: new StoreUnavailableError("it does not answer") };
    }
    if (!random.chance(faultRate / 4)) return undefined;
    const [payment, version] = args as [Payment, number | "new"];
    const kind = random.pick(["unanswered", "answer lost", "conflict"] as const);
    if (kind === "conflict" && name === "save" && version !== "new")
      return { when: "before", error: new VersionConflictError(payment.facts.id) };
    return kind === "answer lost"
      ? { when: "after", error: new StoreUnavailableError("its answer was lost", { outcome: "unknown" }) }
      : { when: "before", error: new StoreUnavailableError("it does not answer") };
  }

  private turn(onEnd: "forgotten" | "told"): Promise<void> {
    if (this.alive) return this.world.turnstile.pass(this, onEnd);
    return onEnd === "told" ? Promise.reject(new Error("the process is gone")) : new Promise(() => undefined);
  }
}

type StoreFault = (
  name: string | symbol,
  args: readonly unknown[],
) => { readonly when: "before" | "after"; readonly error: Error } | undefined;

function sometimesLost(hold: LockHold, random: SeededRandom, rate: number): LockHold {
  const losing = Object.create(hold) as { -readonly [Member in keyof LockHold]: LockHold[Member] };
  losing.assertHeld = () => {
    if (random.chance(rate)) throw new LockLostError(hold.resourceId, "its lease ended");
  };
  return losing;
}
