import type { EventFeed } from "../../../../application/ports/events/event-feed";
import type { LockTimeoutPolicy } from "../../../../application/ports/lock-timeout";
import type { AuthorizePayment } from "../../../../application/use-cases/authorize-payment";
import type { CapturePayment } from "../../../../application/use-cases/capture-payment";
import type { ImportAuthorization } from "../../../../application/use-cases/import-authorization";
import type { ReadPayments } from "../../../../application/use-cases/read-payments";
import type { RefundPayment } from "../../../../application/use-cases/refund-payment";
import type { VoidPayment } from "../../../../application/use-cases/void-payment";
import type { WaitingReaders } from "../events/waiting-readers";
import type { Lifecycle } from "../../server/lifecycle";

/** A world of payments: the service's own, or a sandbox's. */
export interface PaymentUseCases {
  readonly authorizePayment: Pick<AuthorizePayment, "execute">;
  readonly importAuthorization: Pick<ImportAuthorization, "execute">;
  readonly capturePayment: Pick<CapturePayment, "execute">;
  readonly voidPayment: Pick<VoidPayment, "execute">;
  readonly refundPayment: Pick<RefundPayment, "execute">;
  readonly readPayments: Pick<ReadPayments, "one" | "list" | "history">;
  readonly eventFeed: EventFeed;
}

export interface PaymentParts {
  /** Lends the use cases of the world that is meant, for as long as the work takes. */
  readonly inWorld: <T>(work: (world: PaymentUseCases) => Promise<T>) => Promise<T>;
  readonly lockTimeouts: LockTimeoutPolicy;
  readonly lifecycle: Lifecycle;
  readonly readers: WaitingReaders;
}
