import type { PaymentGateway } from "../../../src/application/ports/payment-gateway";
import type { OperationContext } from "../../../src/application/operations/operation-context";
import type { LockHold, LockProvider } from "../../../src/application/ports/lock-provider";
import { LockLostError } from "../../../src/application/ports/lock-errors";
import {
  StoreUnavailableError,
  type PaymentRepository,
} from "../../../src/application/ports/payment-repository";
import { InMemoryLockProvider } from "../../../src/infrastructure/locking/in-memory-lock-provider";
import { NoOpLockProvider } from "../../../src/infrastructure/locking/no-op-lock-provider";
import type { SeededRandom } from "../lease/seeded-random";
import type { LifeProfile } from "./life-profile";
import type { Turnstile } from "./turnstile";

export interface World {
  readonly turnstile: Turnstile;
  readonly random: SeededRandom;
  readonly profile: LifeProfile;
  readonly payments: PaymentRepository;
  /** With the network in between. */
  readonly gateway: PaymentGateway;
  readonly now: () => Date;
  readonly nextId: () => string;
}

/** One process of the service: locks of its own, a clock that may be wrong, and an end between any two awaits. */
export class ServiceProcess {
  clockOffsetMs = 0;
  readonly context: OperationContext;
  private alive = true;

  constructor(private readonly world: World) {
    const { random, nextId, payments, gateway } = world;
    this.context = {
      locks: this.locks(),
      payments: this.stepwise(payments, "forgotten"),
      // Told, so that it forgets its timers; nobody hears what it makes of that.
      gateway: this.stepwise(gateway, "told"),
      clock: { now: () => new Date(world.now().getTime() + this.clockOffsetMs) },
      ids: { nextId },
      random: () => random.next(),
      sleep: () => world.turnstile.pass(this, "forgotten"),
    };
  }

  /** kill -9: whatever it was about to do does not happen, and whatever comes back finds nobody. */
  kill(): void {
    this.alive = false;
    this.world.turnstile.abandonAll(this);
  }

  private locks(): LockProvider {
    const { profile, random } = this.world;
    if (profile.locks === "memory") return new InMemoryLockProvider();
    const none = new NoOpLockProvider();
    if (profile.locks === "none") return none;
    return {
      withLock: (id, section, options) =>
        none.withLock(id, (hold) => section(sometimesLost(hold, random, profile.faultRate)), options),
    };
  }

  /** Before and after each call the process waits for its turn; in between is when the call is done. */
  private stepwise<T extends object>(target: T, onEnd: "forgotten" | "told"): T {
    const { turnstile, random, profile } = this.world;
    return new Proxy(target, {
      get: (object, name) => {
        const member: unknown = Reflect.get(object, name, object);
        if (typeof member !== "function") return member;
        return async (...args: unknown[]) => {
          await this.turn(onEnd);
          const storeFails = onEnd === "forgotten" && random.chance(profile.faultRate / 4);
          if (storeFails && random.chance(0.5)) throw new StoreUnavailableError("it does not answer");
          const result: unknown = await turnstile.during(
            async () => (await Reflect.apply(member, object, args)) as unknown,
          );
          await this.turn(onEnd);
          if (storeFails) throw new StoreUnavailableError("its answer was lost");
          return result;
        };
      },
    });
  }

  private turn(onEnd: "forgotten" | "told"): Promise<void> {
    if (this.alive) return this.world.turnstile.pass(this, onEnd);
    return onEnd === "told" ? Promise.reject(new Error("the process is gone")) : new Promise(() => undefined);
  }
}

function sometimesLost(hold: LockHold, random: SeededRandom, rate: number): LockHold {
  const losing = Object.create(hold) as { -readonly [Member in keyof LockHold]: LockHold[Member] };
  losing.assertHeld = () => {
    if (random.chance(rate)) throw new LockLostError(hold.resourceId, "its lease ended");
  };
  return losing;
}
