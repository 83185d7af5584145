import type { PassReport } from "../operations/background-pass";
import type { OperationContext } from "../operations/operation-context";
import type { AuthorizationLookup } from "../ports/authorization-lookup";
import { AuthorizePayment } from "../use-cases/authorize-payment";
import { CapturePayment } from "../use-cases/capture-payment";
import { ExpireAuthorizations } from "../use-cases/expire-authorizations";
import { ImportAuthorization } from "../use-cases/import-authorization";
import { ReadPayments } from "../use-cases/read-payments";
import { ReconcileOperations } from "../use-cases/reconcile-operations";
import { RefundPayment } from "../use-cases/refund-payment";
import { VoidPayment } from "../use-cases/void-payment";
import type { SandboxClock } from "./sandbox-clock";
import { SandboxError } from "./sandbox-errors";

/** What a world is made of. Its store, gateway, locks and clock are its own: nothing of it is anybody else's. */
export interface SandboxWorldParts {
  readonly context: OperationContext;
  readonly authorizations: AuthorizationLookup;
  readonly clock: SandboxClock;
  /** All of it, of one instant: the store's content and the gateway's memory belong together. */
  readonly takeContent: () => Promise<WorldContent>;
  /** Grows with each change of the store. */
  readonly storeRevision: () => number;
  readonly countPayments: () => number;
  readonly onError: (error: unknown) => void;
}

export interface WorldContent {
  /** JSON. */
  readonly content: unknown;
  /** The world's revision at that instant. */
  readonly revision: number;
}

/** Makes worlds. `restore` throws an `Error` in words on content that is not of a world. */
export interface SandboxWorlds {
  create(now: Date): SandboxWorld;
  restore(content: unknown): SandboxWorld;
}

/** In one sandbox there is one clock, so there is nobody to be lenient to. */
const NO_GRACE_MS = 0;
/** Later dates do not fit into what is written. */
const LAST_INSTANT = new Date("9000-01-01T00:00:00.000Z");
/** How often a moving clock stops on its way; what is due after that comes due together, at the end. */
const MAX_STOPS = 500;

/** A payments world of its own: the use cases of live payments over a store, a gateway and a clock that nobody shares. */
export class SandboxWorld {
  readonly authorizePayment: AuthorizePayment;
  readonly importAuthorization: ImportAuthorization;
  readonly capturePayment: CapturePayment;
  readonly voidPayment: VoidPayment;
  readonly refundPayment: RefundPayment;
  readonly readPayments: ReadPayments;
  private readonly expire: ExpireAuthorizations;
  private readonly reconcile: ReconcileOperations;
  private clockMoves = 0;
  /** One move after the other, so that each begins where the one before ended. */
  private moving: Promise<unknown> = Promise.resolve();

  constructor(private readonly parts: SandboxWorldParts) {
    const { context, authorizations, onError } = parts;
    this.authorizePayment = new AuthorizePayment(context);
    this.importAuthorization = new ImportAuthorization(context, authorizations, "the merchant's own");
    this.capturePayment = new CapturePayment(context);
    this.voidPayment = new VoidPayment(context);
    this.refundPayment = new RefundPayment(context);
    this.readPayments = new ReadPayments(context.payments);
    this.expire = new ExpireAuthorizations(context, onError, NO_GRACE_MS);
    this.reconcile = new ReconcileOperations(context, onError);
  }

  get now(): Date {
    return this.parts.clock.now();
  }

  get payments(): number {
    return this.parts.countPayments();
  }

  /** Two equal readings: nothing changed in between. */
  get revision(): number {
    return this.parts.storeRevision() + this.clockMoves;
  }

  takeContent(): Promise<WorldContent> {
    return this.parts.takeContent();
  }

  /** Moves the clock, and does on the way, at its own time, whatever falls due: expiries, and questions to the gateway. */
  moveClock(wanted: { readonly advanceMs: number } | { readonly to: Date }): Promise<void> {
    const move = this.moving.then(() => this.move(wanted));
    this.moving = move.catch(() => undefined);
    return move;
  }

  private async move(wanted: { readonly advanceMs: number } | { readonly to: Date }): Promise<void> {
    const { clock, context } = this.parts;
    const target = "to" in wanted ? wanted.to : new Date(this.now.getTime() + wanted.advanceMs);
    if (target < this.now) {
      throw new SandboxError(
        "clock_not_movable",
        `the clock goes forward only: it is at ${this.now.toISOString()}`,
      );
    }
    if (!(target <= LAST_INSTANT)) {
      throw new SandboxError("clock_not_movable", `the clock ends at ${LAST_INSTANT.toISOString()}`);
    }
    for (let stops = 0; stops < MAX_STOPS; stops += 1) {
      const due = await this.nextDue(target);
      if (due === null) break;
      clock.forwardTo(due);
      this.clockMoves += 1;
      // What could not be done now would be due for ever, and time would stand still.
      if ((await this.runPasses()) === 0) break;
      // A long way must not keep everybody else in the process waiting.
      await context.sleep(0);
    }
    clock.forwardTo(target);
    this.clockMoves += 1;
    await this.runPasses();
  }

  private async nextDue(by: Date): Promise<Date | null> {
    const { payments } = this.parts.context;
    const [operation] = await payments.dueOperations(by, 1);
    const [lapsed] = await payments.lapsedAuthorizations(by, 1);
    if (operation === undefined) return lapsed?.expiresAt ?? null;
    // Due after all of this way is due at once: no schedule reaches there, so its time cannot be true.
    const dueAt = operation.dueAt > by ? this.now : operation.dueAt;
    if (lapsed === undefined) return dueAt;
    return dueAt < lapsed.expiresAt ? dueAt : lapsed.expiresAt;
  }

  /** How many payments were worked on with success. */
  private async runPasses(): Promise<number> {
    const expired: PassReport = await this.expire.execute();
    const reconciled: PassReport = await this.reconcile.execute();
    return expired.done + reconciled.done;
  }
}
