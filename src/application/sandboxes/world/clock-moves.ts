import type { PassReport } from "../../background/background-pass";
import type { WebhookStore } from "../../ports/events/webhook-store";
import type { PaymentRepository } from "../../ports/payment-repository";
import { SandboxError } from "../sandbox-errors";
import type { SandboxClock } from "./sandbox-clock";

export type ClockTarget = { readonly advanceMs: number } | { readonly to: Date };

export interface ClockMovesParts {
  readonly clock: SandboxClock;
  readonly payments: Pick<PaymentRepository, "dueOperations" | "lapsedAuthorizations">;
  readonly webhooks: Pick<WebhookStore["queue"], "nextDueAt">;
  readonly sleep: (ms: number) => Promise<void>;
  readonly expire: { execute(): Promise<PassReport> };
  readonly reconcile: { execute(): Promise<PassReport> };
  /** How many webhooks were attempted. */
  readonly deliver: () => Promise<number>;
}

/** Later dates do not fit into what is written. */
const LAST_INSTANT = new Date("9000-01-01T00:00:00.000Z");
/** How often a moving clock stops on its way; what is due after that comes due together, at the end. */
const MAX_STOPS = 500;

/** Moves a sandbox's clock, and does on the way, at its own time, whatever falls due: expiries, questions to the gateway, and webhooks. */
export class ClockMoves {
  private moved = 0;
  /** One move after the other, so that each begins where the one before ended. */
  private moving: Promise<unknown> = Promise.resolve();

  constructor(private readonly parts: ClockMovesParts) {}

  get count(): number {
    return this.moved;
  }

  move(wanted: ClockTarget): Promise<void> {
    const move = this.moving.then(() => this.moveNow(wanted));
    this.moving = move.catch(() => undefined);
    return move;
  }

  private async moveNow(wanted: ClockTarget): Promise<void> {
    const { clock, deliver, sleep } = this.parts;
    const target = this.instantOf(wanted);
    // What is under way now fails or succeeds now, and not where the clock is going.
    await deliver();
    for (let stops = 0; stops < MAX_STOPS; stops += 1) {
      const due = await this.nextDue(target);
      if (due === null) break;
      clock.forwardTo(due);
      this.moved += 1;
      const done = await this.runPasses();
      // What could not be done now would be due for ever, and time would stand still. What somebody else has just done, a
      // request's webhooks say, is not due any more.
      if (done === 0 && (await this.nextDue(target))?.getTime() === due.getTime()) break;
      // A long way must not keep everybody else in the process waiting.
      await sleep(0);
    }
    clock.forwardTo(target);
    this.moved += 1;
    await this.runPasses();
  }

  private instantOf(wanted: ClockTarget): Date {
    const now = this.parts.clock.now();
    const target = "to" in wanted ? wanted.to : new Date(now.getTime() + wanted.advanceMs);
    if (target < now)
      throw new SandboxError(
        "clock_not_movable",
        `the clock goes forward only: it is at ${now.toISOString()}`,
      );
    if (!(target <= LAST_INSTANT))
      throw new SandboxError("clock_not_movable", `the clock ends at ${LAST_INSTANT.toISOString()}`);
    return target;
  }

  private async nextDue(by: Date): Promise<Date | null> {
    const webhook = await this.parts.webhooks.nextDueAt();
    const other = await this.nextDueOfPayments(by);
    if (webhook === null || webhook > by) return other;
    return other === null || webhook < other ? webhook : other;
  }

  private async nextDueOfPayments(by: Date): Promise<Date | null> {
    const { payments, clock } = this.parts;
    const [operation] = await payments.dueOperations(by, 1);
    const [lapsed] = await payments.lapsedAuthorizations(by, 1);
    if (operation === undefined) return lapsed?.expiresAt ?? null;
    // Due after all of this way is due at once: no schedule reaches there, so its time cannot be true.
    const dueAt = operation.dueAt > by ? clock.now() : operation.dueAt;
    if (lapsed === undefined) return dueAt;
    return dueAt < lapsed.expiresAt ? dueAt : lapsed.expiresAt;
  }

  /** How many payments were worked on with success. */
  private async runPasses(): Promise<number> {
    const { expire, reconcile, deliver } = this.parts;
    const expired = await expire.execute();
    const reconciled = await reconcile.execute();
    return expired.done + reconciled.done + (await deliver());
  }
}
