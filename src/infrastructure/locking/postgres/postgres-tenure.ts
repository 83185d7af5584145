import { LockLostError } from "../../../application/ports/lock-errors";
import type { Tenure } from "../lock-backend";
import { Loss } from "../hold/loss";
import type { PostgresSession } from "./postgres-session";

/** One acquisition. It is lost when its session is, and for no other reason. */
export class PostgresTenure implements Tenure {
  private readonly loss = new Loss();
  private releasing: Promise<void> | undefined;

  constructor(
    private readonly resourceId: string,
    readonly fencingToken: bigint,
    private readonly session: PostgresSession,
    private readonly giveBack: () => Promise<void>,
  ) {}

  get lost(): AbortSignal {
    return this.loss.signal;
  }

  assertHeld(): void {
    const reason = this.session.whyLost() ?? (this.releasing === undefined ? null : "it was released");
    if (reason !== null) throw new LockLostError(this.resourceId, reason);
  }

  aloneForMs(): number {
    return this.session.aloneForMs;
  }

  release(): Promise<void> {
    return (this.releasing ??= this.giveBack());
  }

  isOf(session: PostgresSession): boolean {
    return this.session === session;
  }

  lose(reason: string): void {
    if (this.releasing === undefined) this.loss.declare(reason);
  }
}
