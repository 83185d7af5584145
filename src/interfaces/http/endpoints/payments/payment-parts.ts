import type { PaymentUseCases } from "../../../../application/payment-use-cases";
import type { EventFeed } from "../../../../application/ports/events/event-feed";
import type { LockTimeoutPolicy } from "../../../../application/ports/lock-timeout";
import type { Lifecycle } from "../../server/lifecycle";
import type { WaitingReaders } from "../events/waiting-readers";

/** A world of payments: the service's own, or a sandbox's. */
export type PaymentWorld = {
  readonly [Name in keyof PaymentUseCases]: Pick<PaymentUseCases[Name], keyof PaymentUseCases[Name]>;
} & { readonly eventFeed: EventFeed };

export interface PaymentParts {
  /** Lends the use cases of the world that is meant, for as long as the work takes. */
  readonly inWorld: <T>(work: (world: PaymentWorld) => Promise<T>) => Promise<T>;
  readonly lockTimeouts: LockTimeoutPolicy;
  readonly lifecycle: Lifecycle;
  readonly readers: WaitingReaders;
  /** Where the simulated gateway's page of this path is, from outside. */
  readonly customerUrl: (path: string) => string;
  /** Tells the log of a failure that becomes a part of an answer, where it belongs there. */
  readonly logFailure: (error: unknown, requestId: string) => void;
}
