import type {
  AuthorizationLookup,
  LookupAnswer,
  LookupRequest,
} from "../../../../src/application/ports/authorization-lookup";
import type {
  AuthorizeRequest,
  FindAnswer,
  FindRequest,
  GatewayAnswer,
  MovementRequest,
  PaymentGateway,
  PictureAnswer,
  PictureRequest,
  RecordedAnswer,
} from "../../../../src/application/ports/payment-gateway";
import type { OperationKind } from "../../../../src/domain/payment/operation";
import type {
  GatewayLedger,
  GatewayMove,
  GatewayTables,
  LedgerState,
} from "../../../../src/infrastructure/gateways/simulated/ledgers/gateway-ledger";
import type { SimulatedGateway } from "../../../../src/infrastructure/gateways/simulated/simulated-gateway";
import type { SeededRandom } from "../../lease/seeded-random";

const HOUR_MS = 3_600_000;
/** The last one is longer than a gateway may take: a person is asked. */
const DECIDES_AFTER_HOURS = [1, 9, 30, 120, 240] as const;
/** What is undecided until somebody decides it. */
const NEVER = new Date(8.64e15);

export interface GatewayOptions {
  readonly gateway: SimulatedGateway;
  readonly ledger: GatewayLedger;
  readonly now: () => Date;
  readonly random: SeededRandom;
  /** How likely a gateway of its own mind is to take its time, or to show something that does not fit. */
  readonly moodiness: () => number;
  /** Then it carries out a key that it had before as if it were new. */
  readonly forgetsKeysAfterMs: number;
  readonly drawsPictures?: boolean;
}

interface Undecided {
  readonly paymentId: string;
  readonly gatewayKey: string;
  readonly at: Date;
  readonly declines: boolean;
}

/** The simulated gateway, and what becomes of money there without anybody's asking. All of it is in its books. */
export class GatewayDealings implements PaymentGateway, AuthorizationLookup {
  readonly remembersKeysForMs: number;
  readonly drawsPictures: boolean;
  /** Keys whose movement succeeded and was undone since. */
  private readonly undone = new Set<string>();
  /** Authorizations whose money was taken in the gateway's dashboard. */
  private readonly takenElsewhere = new Set<string>();
  private readonly voidsToRefuse = new Map<string, number>();
  private readonly firstCameAtMs = new Map<string, number>();
  private undecided: Undecided[] = [];
  /** Payments of which something happened here, in order, for whoever is to hear of it. */
  readonly news: string[] = [];

  constructor(private readonly options: GatewayOptions) {
    this.drawsPictures = options.drawsPictures === true;
    this.remembersKeysForMs = Math.min(options.gateway.remembersKeysForMs, options.forgetsKeysAfterMs);
  }

  authorize(asked: AuthorizeRequest): Promise<GatewayAnswer> {
    const request = this.asRemembered(asked);
    return this.received("authorize", request, null, () => this.options.gateway.authorize(request));
  }

  capture(asked: MovementRequest): Promise<GatewayAnswer> {
    const request = this.asRemembered(asked);
    const refusal = this.takenElsewhere.has(request.authorizationReference) ? "already_captured" : null;
    return this.received("capture", request, refusal, () => this.options.gateway.capture(request));
  }

  void(request: MovementRequest): Promise<GatewayAnswer> {
    const refusals = this.voidsToRefuse.get(request.paymentId) ?? 0;
    const refusal = refusals > 0 ? "try_again_later" : null;
    return this.received("void", request, refusal, () => this.options.gateway.void(request));
  }

  refund(asked: MovementRequest): Promise<GatewayAnswer> {
    const request = this.asRemembered(asked);
    return this.received("refund", request, null, () => this.options.gateway.refund(request));
  }

  async find(request: FindRequest): Promise<FindAnswer> {
    await this.decideWhatIsDue();
    if (this.isMoody()) return { outcome: "mismatch", evidence: "found under another customer" };
    return withoutTime(await this.options.gateway.find(request));
  }

  async picture(request: PictureRequest): Promise<PictureAnswer> {
    await this.decideWhatIsDue();
    return this.options.gateway.picture(request);
  }

  lookupAuthorization(request: LookupRequest): Promise<LookupAnswer> {
    return this.options.gateway.lookupAuthorization(request);
  }

  /** What has moved and is still moved. */
  async moves(paymentId: string): Promise<readonly GatewayMove[]> {
    await this.decideWhatIsDue();
    const moves = await this.options.gateway.moves(paymentId);
    return moves.filter(({ gatewayKey }) => !this.undone.has(gatewayKey));
  }

  /** What the books say of a key now. */
  async state(paymentId: string, gatewayKey: string): Promise<LedgerState | undefined> {
    await this.moves(paymentId);
    const entry = await this.books(paymentId, (tables) => tables.entry(gatewayKey));
    return entry?.state;
  }

  get isUndecided(): boolean {
    return this.undecided.length > 0;
  }

  wasUndone(gatewayKey: string): boolean {
    return this.undone.has(gatewayKey);
  }

  wasTakenElsewhere(authorizationReference: string | null): boolean {
    return authorizationReference !== null && this.takenElsewhere.has(authorizationReference);
  }

  /** Somebody captures the money in the gateway's dashboard. */
  async takeElsewhere(paymentId: string, reference: string): Promise<void> {
    await this.books(paymentId, async (tables) => {
      const authorization = await tables.authorization(reference);
      if (authorization?.status !== "open" || (await tables.dueEntries(paymentId, NEVER)).length > 0) return;
      const { amount } = authorization.amount;
      await tables.putAuthorization({ ...authorization, status: "captured", reserved: 0n, captured: amount });
      this.takenElsewhere.add(reference);
    });
  }

  /** A refund that succeeded comes back: the customer's account is closed. */
  async undoRefund(paymentId: string, reference: string): Promise<void> {
    const { random } = this.options;
    const refunds = (await this.moves(paymentId)).filter(({ kind }) => kind === "refund");
    if (refunds.length === 0) return;
    const { gatewayKey } = random.pick(refunds as [GatewayMove, ...GatewayMove[]]);
    await this.books(paymentId, async (tables) => {
      const entry = await tables.entry(gatewayKey);
      const authorization = await tables.authorization(reference);
      if (entry === null || authorization === null) return;
      const refunded = authorization.refunded - entry.amount.amount;
      await tables.putAuthorization({ ...authorization, refunded });
      await tables.putEntry({ ...entry, state: recorded({ outcome: "declined", reason: "returned" }) });
      this.undone.add(gatewayKey);
    });
  }

  refuseVoids(paymentId: string, times: number): void {
    this.voidsToRefuse.set(paymentId, times);
  }

  /** A void lets go what is there once, whatever its key. */
  private asRemembered<Request extends { readonly gatewayKey: string }>(request: Request): Request {
    const { gatewayKey } = request;
    const nowMs = this.options.now().getTime();
    const firstMs = this.firstCameAtMs.get(gatewayKey) ?? nowMs;
    this.firstCameAtMs.set(gatewayKey, firstMs);
    const isForgotten = nowMs - firstMs > this.options.forgetsKeysAfterMs;
    return isForgotten ? { ...request, gatewayKey: `${gatewayKey}.again` } : request;
  }

  private async received(
    kind: OperationKind,
    request: Omit<MovementRequest, "authorizationReference"> & {
      readonly authorizationReference?: string;
      readonly paymentMethod?: string;
    },
    refusal: string | null,
    handOn: () => Promise<GatewayAnswer>,
  ): Promise<GatewayAnswer> {
    await this.decideWhatIsDue();
    const hesitates = this.isMoody();
    this.news.push(request.paymentId);
    if (!hesitates && refusal === null) return withoutTime(await handOn());
    const { gatewayKey, operationId, paymentId, amount } = request;
    const isNew = await this.books(paymentId, async (tables) => {
      const known = await tables.entry(gatewayKey);
      // What came before and was not heeded is received anew when it comes again.
      if (known !== null && (refusal === null || known.state.is !== "lost")) return false;
      const state: LedgerState =
        refusal === null
          ? { is: "deciding", dueAt: NEVER }
          : recorded({ outcome: "declined", reason: refusal });
      await tables.putEntry({
        kind,
        gatewayKey,
        operationId,
        paymentId,
        amount,
        authorizationReference: request.authorizationReference ?? null,
        paymentMethod: request.paymentMethod ?? null,
        customerPage: null,
        state,
      });
      return true;
    });
    if (!isNew) return withoutTime(await handOn());
    if (refusal !== null) {
      if (kind === "void") this.voidsToRefuse.set(paymentId, (this.voidsToRefuse.get(paymentId) ?? 1) - 1);
      return { outcome: "declined", reason: refusal };
    }
    const hours = this.options.random.pick(DECIDES_AFTER_HOURS);
    const at = new Date(this.options.now().getTime() + hours * HOUR_MS);
    this.undecided.push({ paymentId, gatewayKey, at, declines: this.options.random.chance(0.3) });
    return { outcome: "pending" };
  }

  private isMoody(): boolean {
    return this.options.random.chance(this.options.moodiness());
  }

  private async decideWhatIsDue(): Promise<void> {
    const now = this.options.now();
    const due = this.undecided.filter(({ at }) => at <= now);
    if (due.length === 0) return;
    this.undecided = this.undecided.filter(({ at }) => at > now);
    for (const { paymentId, gatewayKey, at, declines } of due) {
      await this.books(paymentId, async (tables) => {
        const entry = await tables.entry(gatewayKey);
        if (entry === null) return;
        const state: LedgerState = declines
          ? recorded({ outcome: "declined", reason: "decided late" })
          : { is: "deciding", dueAt: at };
        await tables.putEntry({ ...entry, state });
      });
    }
  }

  private books<T>(paymentId: string, work: (tables: GatewayTables) => Promise<T>): Promise<T> {
    if (this.news.at(-1) !== paymentId) this.news.push(paymentId);
    return this.options.ledger.transaction(paymentId, work);
  }
}

function recorded(answer: RecordedAnswer): LedgerState {
  return { is: "recorded", answer };
}

/** It does not know itself until when it decides what it takes its time for. */
function withoutTime<Answer extends { readonly outcome: string }>(
  answer: Answer,
): Answer | { readonly outcome: "pending" } {
  return answer.outcome === "pending" ? { outcome: "pending" } : answer;
}
