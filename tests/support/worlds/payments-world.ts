import { anAct } from "../an-act";
import type { AuthorizationLookup } from "../../../src/application/ports/authorization-lookup";
import type { MerchantAccountStore } from "../../../src/application/ports/accounts/merchant-account-store";
import type { CustomerDecision } from "../../../src/application/ports/customer/customer-pages";
import type { Clock } from "../../../src/application/ports/clock";
import type { LockProvider } from "../../../src/application/ports/lock-provider";
import type {
  FindAnswer,
  GatewayAnswer,
  PaymentGateway,
  PictureAnswer,
} from "../../../src/application/ports/payment-gateway";
import type { PaymentRepository } from "../../../src/application/ports/payment-repository";
import type { OperationContext } from "../../../src/application/operations/operation-context";
import type { OperationOutcome } from "../../../src/application/operations/operation-outcome";
import type { Caller } from "../../../src/application/operations/caller";
import {
  AuthorizePayment,
  type AuthorizePaymentCommand,
} from "../../../src/application/use-cases/authorize-payment";
import { CapturePayment } from "../../../src/application/use-cases/capture-payment";
import { ExpireAuthorizations } from "../../../src/application/use-cases/expire-authorizations";
import { ImportAuthorization } from "../../../src/application/use-cases/import-authorization";
import { ObservePayment } from "../../../src/application/use-cases/observe-payment";
import { ReconcileOperations } from "../../../src/application/use-cases/reconcile-operations";
import { RefundPayment } from "../../../src/application/use-cases/refund-payment";
import { ReviewOperations } from "../../../src/application/use-cases/review-operations";
import { VoidPayment } from "../../../src/application/use-cases/void-payment";
import {
  parseIdempotencyKey,
  parseMerchantId,
  type MerchantId,
  type OperationId,
  type PaymentId,
} from "../../../src/domain/identifiers";
import { money, parseCurrency } from "../../../src/domain/money";
import type { Payment } from "../../../src/domain/payment/payment";
import { PaymentError } from "../../../src/domain/payment/errors";
import type { GatewayPicture } from "../../../src/domain/payment/picture/gateway-picture";
import type { ReviewVerdict } from "../../../src/domain/payment/facts";
import { InMemoryGatewayLedger } from "../../../src/infrastructure/gateways/simulated/ledgers/in-memory-gateway-ledger";
import { SimulatedGateway } from "../../../src/infrastructure/gateways/simulated/simulated-gateway";
import { UuidV7Generator } from "../../../src/infrastructure/identity/uuid-v7-generator";
import { NoOpLockProvider } from "../../../src/infrastructure/locking/none/no-op-lock-provider";
import { Gate } from "../fakes/gate";
import { InMemoryMerchantAccountStore } from "../../../src/infrastructure/persistence/memory/in-memory-merchant-account-store";
import { InMemoryPaymentRepository } from "../../../src/infrastructure/persistence/memory/in-memory-payment-repository";

/** A clock that stands still until told otherwise. */
export class TestClock implements Clock {
  constructor(private at = new Date("2026-03-01T12:00:00.000Z")) {}

  now(): Date {
    return new Date(this.at);
  }

  advance(ms: number): void {
    this.at = new Date(this.at.getTime() + ms);
  }
}

export interface HeldBack {
  readonly carriedOut: Promise<void>;
  letGo(): void;
}

type MoneyCall = "authorize" | "capture" | "void" | "refund";

/** Writes down what it is asked, and lets a test answer in the gateway's place or get between request and answer. */
export class WatchedGateway implements PaymentGateway {
  readonly calls: string[] = [];
  readonly remembersKeysForMs: number;
  private toQuestions: FindAnswer | null = null;
  private readonly scripted = new Map<string, ((real: () => Promise<unknown>) => Promise<unknown>)[]>();

  constructor(
    private readonly inner: PaymentGateway,
    remembersKeysForMs?: number,
  ) {
    this.remembersKeysForMs = remembersKeysForMs ?? inner.remembersKeysForMs;
    const { picture } = inner;
    if (picture !== undefined) {
      this.picture = (request) =>
        this.call("picture", async () =>
          this.toQuestions === null
            ? picture.call(inner, request)
            : { outcome: "unknown", reason: "it answers about keys only" },
        );
    }
  }

  /** The next call of this kind is answered by `answer`, which may ask the real gateway. */
  next(call: MoneyCall, answer: (real: () => Promise<GatewayAnswer>) => Promise<GatewayAnswer>): void;
  next(call: "find", answer: (real: () => Promise<FindAnswer>) => Promise<FindAnswer>): void;
  next(call: "picture", answer: (real: () => Promise<PictureAnswer>) => Promise<PictureAnswer>): void;
  next(call: MoneyCall | "find" | "picture", answer: (real: never) => Promise<unknown>): void {
    const queue = this.scripted.get(call) ?? [];
    queue.push(answer as (real: () => Promise<unknown>) => Promise<unknown>);
    this.scripted.set(call, queue);
  }

  /** From now on every question about a key is answered so, and no other one; null lets the real gateway answer again. */
  answersQuestions(answer: FindAnswer | null): void {
    this.toQuestions = answer;
  }

  /** From now on the gateway's picture is what it is, changed so. */
  shows(change: Partial<GatewayPicture>): void {
    const draw = this.picture;
    this.picture = async (request) => {
      const answer = await draw?.(request);
      if (answer?.outcome !== "seen") throw new Error("nothing to change");
      return { outcome: "seen", picture: { ...answer.picture, ...change } };
    };
  }

  /** The next call of this kind is carried out, and its answer held back until it is let go. */
  holdsBack(
    call: "capture" | "find",
    lost?: { readonly outcome: "unknown"; readonly reason: string },
  ): HeldBack {
    const [carriedOut, gate] = [new Gate(), new Gate()];
    const answer = async <A>(real: () => Promise<A>) => {
      const truth = await real();
      carriedOut.open();
      await gate.passed;
      return lost ?? truth;
    };
    if (call === "capture") this.next(call, answer);
    else this.next(call, answer);
    return { carriedOut: carriedOut.passed, letGo: () => gate.open() };
  }

  readonly authorize: PaymentGateway["authorize"] = (request) =>
    this.call("authorize", () => this.inner.authorize(request));
  readonly capture: PaymentGateway["capture"] = (request) =>
    this.call("capture", () => this.inner.capture(request));
  readonly void: PaymentGateway["void"] = (request) => this.call("void", () => this.inner.void(request));
  readonly refund: PaymentGateway["refund"] = (request) =>
    this.call("refund", () => this.inner.refund(request));
  readonly find: PaymentGateway["find"] = (request) =>
    this.call("find", async () => this.toQuestions ?? this.inner.find(request));
  /** Undefined where the gateway draws none, or is to be one that does not. */
  picture?: NonNullable<PaymentGateway["picture"]>;

  private async call<A>(name: string, real: () => Promise<A>): Promise<A> {
    this.calls.push(name);
    const answer = this.scripted.get(name)?.shift();
    return answer === undefined ? real() : ((await answer(real)) as A);
  }
}

export interface WorldParts {
  readonly locks?: LockProvider;
  readonly payments?: PaymentRepository;
  readonly merchantAccounts?: MerchantAccountStore;
  /** In place of the simulated one. */
  readonly gateway?: PaymentGateway;
  readonly remembersKeysForMs?: number;
  /** A gateway that knows of our keys only. */
  readonly withoutPictures?: boolean;
}

/** Everything a use case needs, with a clock that the test moves and a gateway that can be watched. */
export class PaymentsWorld {
  readonly clock = new TestClock();
  readonly simulated = new SimulatedGateway({
    ledger: new InMemoryGatewayLedger(),
    clock: this.clock,
    timeoutMs: 0,
    sleep: async () => {},
  });
  readonly gateway: WatchedGateway;
  readonly locks: LockProvider;
  readonly context: OperationContext;
  readonly errors: unknown[] = [];
  /** Of the same store as the payments. No use case asks it before it is among the context's parts. */
  readonly merchantAccounts: MerchantAccountStore;
  readonly merchant: MerchantId = parseMerchantId("acme");

  constructor(parts: WorldParts = {}) {
    this.gateway = new WatchedGateway(parts.gateway ?? this.simulated, parts.remembersKeysForMs);
    if (parts.withoutPictures === true) delete this.gateway.picture;
    this.merchantAccounts = parts.merchantAccounts ?? new InMemoryMerchantAccountStore();
    this.locks = parts.locks ?? new NoOpLockProvider();
    this.context = {
      payments: parts.payments ?? new InMemoryPaymentRepository(),
      gateway: this.gateway,
      clock: this.clock,
      ids: new UuidV7Generator(this.clock),
      random: () => 0,
      sleep: async () => {},
    };
  }

  caller(change: Partial<Caller> = {}): Caller {
    return { merchant: this.merchant, actor: { key: "test" }, ...change };
  }

  async authorize(paymentMethod = "tok_ok", amount = 1_000n, expiresInSeconds = 3_600): Promise<PaymentId> {
    const outcome = await this.begin({
      amount: money(amount, parseCurrency("EUR")),
      paymentMethod,
      expiresInSeconds,
    });
    return outcome.payment.facts.id;
  }

  /** A `POST /payments`, whatever it comes to. */
  begin(wanted: Partial<AuthorizePaymentCommand> = {}): Promise<OperationOutcome> {
    return new AuthorizePayment(this.locks, this.context).execute(
      {
        idempotencyKey: parseIdempotencyKey(`authorize-${this.context.ids.nextId()}`),
        amount: money(1_000n, parseCurrency("EUR")),
        paymentMethod: "tok_ok",
        reference: null,
        metadata: {},
        expiresInSeconds: 3_600,
        ...wanted,
      },
      this.caller(),
    );
  }

  /** What the customer does at the page that the payment sends them to. */
  async customer(id: PaymentId, decision: CustomerDecision) {
    const { actionUrl } = (await this.payment(id)).facts;
    return this.simulated.customerPages.decide(id, secretIn(actionUrl ?? ""), decision);
  }

  capture(
    paymentId: PaymentId,
    key: string,
    wanted: { amount?: bigint; currency?: string } = {},
    caller: Partial<Caller> = {},
  ): Promise<OperationOutcome> {
    return new CapturePayment(this.locks, this.context).execute(
      {
        paymentId,
        idempotencyKey: parseIdempotencyKey(key),
        ...(wanted.amount === undefined ? {} : { amount: wanted.amount }),
        ...(wanted.currency === undefined ? {} : { currency: parseCurrency(wanted.currency) }),
      },
      this.caller(caller),
    );
  }

  void(paymentId: PaymentId, key: string, caller: Partial<Caller> = {}): Promise<OperationOutcome> {
    return new VoidPayment(this.locks, this.context).execute(
      { paymentId, idempotencyKey: parseIdempotencyKey(key) },
      this.caller(caller),
    );
  }

  refund(
    paymentId: PaymentId,
    key: string,
    wanted: { amount?: bigint; currency?: string } = {},
    caller: Partial<Caller> = {},
  ): Promise<OperationOutcome> {
    return new RefundPayment(this.locks, this.context).execute(
      {
        paymentId,
        idempotencyKey: parseIdempotencyKey(key),
        ...(wanted.amount === undefined ? {} : { amount: wanted.amount }),
        ...(wanted.currency === undefined ? {} : { currency: parseCurrency(wanted.currency) }),
      },
      this.caller(caller),
    );
  }

  import(key: string, gatewayReference: string, lookup: AuthorizationLookup = this.simulated) {
    return new ImportAuthorization(this.locks, this.context, lookup, "shared").execute(
      {
        idempotencyKey: parseIdempotencyKey(key),
        gatewayReference,
        reference: null,
        metadata: {},
        expiresInSeconds: null,
      },
      this.caller({ operator: true }),
    );
  }

  /** A captured payment. */
  async captured(paymentMethod = "tok_ok", amount = 1_000n): Promise<PaymentId> {
    const id = await this.authorize(paymentMethod, amount);
    await this.capture(id, "captured");
    return id;
  }

  review(id: OperationId, verdict: Partial<ReviewVerdict> = {}) {
    const whole = { outcome: "moved", evidence: "seen there", gatewayReference: null, ...verdict } as const;
    return new ReviewOperations(this.locks, this.context).resolve(
      id,
      whole,
      { actor: { key: "operator" } },
      anAct,
    );
  }

  observe(id: PaymentId, after: OperationId | null = null) {
    return new ObservePayment(this.locks, this.context).execute(id, { actor: { key: "operator" } }, after);
  }

  reconcile() {
    return new ReconcileOperations(this.locks, this.context, (error) => this.errors.push(error)).execute();
  }

  expire(graceMs?: number) {
    return new ExpireAuthorizations(
      this.locks,
      this.context,
      (error) => this.errors.push(error),
      graceMs,
    ).execute();
  }

  async payment(id: PaymentId): Promise<Payment> {
    const stored = await this.context.payments.find(id);
    if (stored === null) throw new Error(`no payment ${id}`);
    return stored.payment;
  }

  async eventTypes(id: PaymentId): Promise<string[]> {
    return ((await this.context.payments.events(id)) ?? []).map(({ type }) => type);
  }

  /** How often the gateway moved money by captures of this payment. */
  timesCaptured(id: PaymentId): Promise<number> {
    return this.timesMoved(id, "capture");
  }

  async timesMoved(id: PaymentId, kind: MoneyCall): Promise<number> {
    return (await this.simulated.moves(id)).filter((move) => move.kind === kind).length;
  }
}

/** Of the page that an address leads to. */
export function secretIn(url: string): string {
  return new URL(url, "http://127.0.0.1").searchParams.get("secret") ?? "";
}

/** The refusal's code, or what it was if it was no refusal. */
export async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    const outcome = (await promise) as OperationOutcome;
    return outcome.operation.status;
  } catch (error) {
    if (error instanceof PaymentError) return error.code;
    const { code } = error as { code?: unknown };
    if (typeof code === "string") return code;
    throw error;
  }
}
