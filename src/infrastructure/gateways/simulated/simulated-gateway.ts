import { setTimeout as delay } from "node:timers/promises";

import type {
  AuthorizationLookup,
  LookupAnswer,
  LookupRequest,
} from "../../../application/ports/authorization-lookup";
import type { CustomerPages } from "../../../application/ports/customer/customer-pages";
import type { Clock } from "../../../application/ports/clock";
import type {
  AuthorizeRequest,
  FindAnswer,
  FindRequest,
  GatewayAnswer,
  MovementRequest,
  PaymentGateway,
  PictureAnswer,
  PictureRequest,
} from "../../../application/ports/payment-gateway";
import type { OperationKind } from "../../../domain/payment/operation";
import type {
  GatewayLedger,
  GatewayMove,
  GatewayTables,
  LedgerAuthorization,
  LedgerEntry,
  LedgerRequest,
  LooksAt,
  MoveTotals,
} from "./ledgers/gateway-ledger";
import { behave, pendingAs, serverError, timedOut, type Received } from "./behave";
import { actionOf, newCustomerPage, pagesOver } from "./customer-action";
import { differences } from "./differences";
import { lookUp } from "./look-up";
import { inLedger, paymentMethodOf } from "./ledger-request";
import { doElsewhereLater } from "./elsewhere";
import { carryOutDue, moveMoney, record } from "./move-money";
import { pictureOf } from "./picture-of";
import { parsePaymentMethodToken, type PaymentMethodToken } from "./payment-method-token";

export interface SimulatedGatewayOptions {
  readonly ledger: GatewayLedger;
  readonly clock: Clock;
  /** Replaced where time is virtual. */
  readonly sleep?: (ms: number) => Promise<void>;
  /** How long a silent gateway keeps its caller waiting; never longer than the caller's own patience. */
  readonly timeoutMs?: number;
  /** Whether a customer who is sent to a page of this gateway finds it. Default: they do. */
  readonly hasCustomerPages?: boolean;
}

const DEFAULT_TIMEOUT_MS = 50;
/** It forgets nothing. A number that still makes a valid date when added to now. */
const FOR_EVER_MS = 100 * 365 * 86_400_000;

/**
 * Excludes nobody: two keys for one capture move the money twice, so that such a mistake shows.
 * Survives what its ledger survives: a restart with SQLite, nothing with memory.
 * Not for real money: it moves none.
 */
export class SimulatedGateway implements PaymentGateway, AuthorizationLookup {
  readonly remembersKeysForMs = FOR_EVER_MS;
  private readonly ledger: GatewayLedger;
  private readonly clock: Clock;
  private readonly sleep: (ms: number) => Promise<unknown>;
  private readonly timeoutMs: number;
  private readonly hasCustomerPages: boolean;

  constructor({
    ledger,
    clock,
    sleep = delay,
    timeoutMs = DEFAULT_TIMEOUT_MS,
    hasCustomerPages = true,
  }: SimulatedGatewayOptions) {
    this.hasCustomerPages = hasCustomerPages;
    this.ledger = ledger;
    this.clock = clock;
    this.sleep = sleep;
    this.timeoutMs = timeoutMs;
  }

  authorize(request: AuthorizeRequest): Promise<GatewayAnswer> {
    const { paymentMethod, returnUrl, timeoutMs } = request;
    const customerPage = newCustomerPage(returnUrl);
    const authorize = { ...inLedger("authorize", request), paymentMethod, authorizationReference: null };
    return this.send({ ...authorize, customerPage }, timeoutMs);
  }

  capture(request: MovementRequest): Promise<GatewayAnswer> {
    return this.sendMovement("capture", request);
  }

  void(request: MovementRequest): Promise<GatewayAnswer> {
    return this.sendMovement("void", request);
  }

  refund(request: MovementRequest): Promise<GatewayAnswer> {
    return this.sendMovement("refund", request);
  }

  async find(request: FindRequest): Promise<FindAnswer> {
    try {
      const { paymentId, gatewayKey } = request;
      return await this.upToDate(
        paymentId,
        async (tables) => {
          const entry = await tables.entry(gatewayKey);
          return entry === null ? { outcome: "absent" } : recorded(entry, request);
        },
        { gatewayKey },
      );
    } catch (error) {
      return { outcome: "unknown", reason: ledgerFailed(error) };
    }
  }

  async picture(request: PictureRequest): Promise<PictureAnswer> {
    const { paymentId, authorizationReference } = request;
    try {
      return await this.upToDate(paymentId, (tables) => pictureOf(tables, request, this.clock.now()), {
        authorizationReference,
      });
    } catch (error) {
      return { outcome: "unknown", reason: ledgerFailed(error) };
    }
  }

  async lookupAuthorization({ reference }: LookupRequest): Promise<LookupAnswer> {
    try {
      // Nobody's yet, so the reference stands for the payment; what is due for its payment is landed first.
      return await this.upToDate(reference, (tables) => lookUp(tables, reference), {
        authorizationReference: reference,
      });
    } catch (error) {
      return { outcome: "unknown", reason: ledgerFailed(error) };
    }
  }

  /** Where customers act. */
  readonly customerPages: CustomerPages = pagesOver(
    (paymentId, work) => this.upToDate(paymentId, work),
    () => this.clock.now(),
  );

  /** How often, and when, money moved for this payment. */
  moves(paymentId: string): Promise<readonly GatewayMove[]> {
    return this.upToDate(paymentId, (tables) => tables.moves(paymentId));
  }

  /** What is still reserved, and what was taken and given back. */
  authorization(paymentId: string, reference: string): Promise<LedgerAuthorization | null> {
    return this.upToDate(paymentId, (tables) => tables.authorization(reference), {
      authorizationReference: reference,
    });
  }

  /** How much moved in all, everything that is due by now included. */
  async totals(): Promise<MoveTotals> {
    for (const paymentId of await this.ledger.duePayments(this.clock.now())) {
      await this.upToDate(paymentId, async () => undefined);
    }
    return this.ledger.totals();
  }

  private sendMovement(kind: OperationKind, request: MovementRequest): Promise<GatewayAnswer> {
    const { authorizationReference } = request;
    return this.send(
      { ...inLedger(kind, request), authorizationReference, paymentMethod: null, customerPage: null },
      request.timeoutMs,
    );
  }

  private async send(request: LedgerRequest, patienceMs: number): Promise<GatewayAnswer> {
    try {
      const { paymentId } = request;
      const received = await this.upToDate(paymentId, (tables) => this.receive(tables, request), request);
      if ("answer" in received) {
        if (received.afterMs > 0) await this.sleep(Math.min(received.afterMs, patienceMs));
        return received.answer;
      }
      await this.sleep(Math.min(received.landsAfterMs, patienceMs));
      if (received.landsAfterMs > patienceMs) return timedOut;
      // By the timer it has landed; the clock may be another one (a sandbox's stands still), so it is not asked.
      return await this.ledger.transaction(
        paymentId,
        (tables) => this.answerFromEntry(tables, request),
        request,
      );
    } catch (error) {
      return { outcome: "unknown", reason: ledgerFailed(error) };
    }
  }

  /** What had to happen by now has happened before anybody looks, even if nobody was running when it was due. */
  private upToDate<T>(
    paymentId: string,
    work: (tables: GatewayTables) => Promise<T>,
    looksAt?: LooksAt,
  ): Promise<T> {
    return this.ledger.transaction(
      paymentId,
      async (tables) => {
        for (const entry of await tables.dueEntries(paymentId, this.clock.now())) {
          await carryOutDue(tables, entry);
        }
        return work(tables);
      },
      looksAt,
    );
  }

  private async receive(tables: GatewayTables, request: LedgerRequest): Promise<Received> {
    const entry = await tables.entry(request.gatewayKey);
    if (entry !== null) return { answer: await this.answerFromEntry(tables, request), afterMs: 0 };
    const method = await paymentMethodOf(tables, request);
    const token = parsePaymentMethodToken(method);
    if (token === null && request.kind === "authorize") {
      const answer = await record(tables, request, { outcome: "declined", reason: "unknown_payment_method" });
      return { answer, afterMs: 0 };
    }
    const meant = token?.actsOn === request.kind && token.behaviour.does !== "ok";
    const first = meant && !(await tables.knowsOperation(request.operationId));
    const received = await behave(tables, request, first ? token.behaviour : { does: "ok" }, {
      now: this.clock.now(),
      timeoutMs: this.timeoutMs,
      hasCustomerPages: this.hasCustomerPages,
    });
    if (token?.actsOn === request.kind) await this.letOthersAct(tables, request, token, received);
    return received;
  }

  /** What others do after this operation, if it has succeeded, is in the books from now on. */
  private async letOthersAct(
    tables: GatewayTables,
    { paymentId, amount, authorizationReference }: LedgerRequest,
    { elsewhere }: PaymentMethodToken,
    received: Received,
  ): Promise<void> {
    if (elsewhere === undefined || !("answer" in received) || received.answer.outcome !== "succeeded") return;
    const reference = authorizationReference ?? received.answer.reference;
    const dueAt = new Date(this.clock.now().getTime() + elsewhere.ms);
    await doElsewhereLater(tables, { paymentId, amount, reference }, elsewhere, dueAt);
  }

  /** The same key came before. */
  private async answerFromEntry(tables: GatewayTables, request: LedgerRequest): Promise<GatewayAnswer> {
    const entry = await tables.entry(request.gatewayKey);
    if (entry === null) return { outcome: "unknown", reason: "forgotten" };
    const other = differences(entry, request);
    if (other !== null) return { outcome: "unknown", reason: `key_reused: ${other}` };
    switch (entry.state.is) {
      case "recorded":
      case "failing":
        return entry.state.answer;
      case "awaiting_customer":
        return actionOf(entry);
      case "deciding":
      case "refusing":
        return pendingAs(entry, entry.state.dueAt);
      case "broken":
        return serverError;
      // A second copy of a request that is still on its way arrives first; the other one will find it done.
      case "in_flight":
      case "lost":
        return moveMoney(tables, request, this.clock.now());
    }
  }
}

function recorded(entry: LedgerEntry, request: FindRequest): FindAnswer {
  const other = differences(entry, request);
  if (other !== null) return { outcome: "mismatch", evidence: `${entry.gatewayKey}: ${other}` };
  switch (entry.state.is) {
    case "recorded":
    case "failing":
      return entry.state.answer;
    case "awaiting_customer":
      return actionOf(entry);
    case "deciding":
    case "refusing":
      return pendingAs(entry, entry.state.dueAt);
    case "broken":
      return { outcome: "unknown", reason: "http_500" };
    case "in_flight":
    case "lost":
      return { outcome: "absent" };
  }
}

function ledgerFailed(error: unknown): string {
  return `the simulated gateway's memory failed: ${error instanceof Error ? error.message : String(error)}`;
}
