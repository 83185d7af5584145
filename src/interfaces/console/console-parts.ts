import type { Logger } from "pino";
import type { AuditTrail } from "../../application/ports/audit/audit-trail";
import type { Clock } from "../../application/ports/clock";
import type { LockQueues } from "../../application/ports/lock-queues";
import type { LockTimeoutPolicy } from "../../application/ports/lock-timeout";
import type { Sandboxes } from "../../application/sandboxes/sandboxes";
import type { ConsoleSessions } from "../../application/use-cases/console-sessions";
import type { ManageApiKeys } from "../../application/use-cases/manage-api-keys";
import type { PaymentWorld } from "../http/endpoints/payments/payment-parts";
import type { WebhookUseCases } from "../http/endpoints/webhooks/webhook-parts";
import type { Lifecycle } from "../http/server/lifecycle";
import type { RecentHour } from "./attention/recent-hour";

/** One line a setting. Secrets are named, not shown. */
export interface ShownSetting {
  readonly name: string;
  readonly value: string | null;
  readonly source: string;
}

/** What only the console needs of the program, beside what the API has. */
export interface OwnConsoleParts {
  readonly sessions: Pick<ConsoleSessions, "signIn" | "callerOf" | "signOut">;
  readonly apiKeys: Pick<ManageApiKeys, "create" | "list" | "revoke">;
  readonly settings: readonly ShownSetting[];
  /** What this instance has seen. */
  readonly recent: RecentHour;
  readonly clock: Clock;
  /** At least 128 unguessable bits, as text. */
  readonly newId: () => string;
}

/** The same use cases that the API calls: there is no second way to move money. */
export type ConsoleParts = Pick<
  PaymentWorld,
  "readPayments" | "capturePayment" | "voidPayment" | "refundPayment" | "observePayment" | "reviewOperations"
> &
  OwnConsoleParts & {
    readonly auditTrail: Pick<AuditTrail, "list">;
    readonly lockQueues: LockQueues;
    readonly lockTimeouts: LockTimeoutPolicy;
    readonly lifecycle: Lifecycle;
    readonly logger: Logger;
    readonly version: string;
    readonly ownUrl: () => string;
    readonly webhooks?: WebhookUseCases | undefined;
    readonly sandboxes?:
      | Pick<Sandboxes, "create" | "use" | "show" | "checkpoint" | "list" | "merchantOf" | "isHere">
      | undefined;
  };
