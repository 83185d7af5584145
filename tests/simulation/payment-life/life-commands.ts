import { amountRefunded, amountCaptured } from "../../../src/domain/payment/payment";
import type { OperationOutcome } from "../../../src/application/operations/operation-outcome";
import type { Caller } from "../../../src/application/operations/caller";
import { LockError } from "../../../src/application/ports/lock-errors";
import { StoreUnavailableError } from "../../../src/application/ports/payment-repository";
import { AuthorizePayment } from "../../../src/application/use-cases/authorize-payment";
import { CapturePayment } from "../../../src/application/use-cases/capture-payment";
import { ImportAuthorization } from "../../../src/application/use-cases/import-authorization";
import { RefundPayment } from "../../../src/application/use-cases/refund-payment";
import { VoidPayment } from "../../../src/application/use-cases/void-payment";
import {
  parseIdempotencyKey,
  parseMerchantId,
  parsePaymentId,
  type IdempotencyKey,
  type PaymentId,
} from "../../../src/domain/identifiers";
import { money, parseCurrency } from "../../../src/domain/money";
import type { OperationKind } from "../../../src/domain/payment/operation";
import { PaymentError } from "../../../src/domain/payment/errors";
import type { SeededRandom } from "../lease/seeded-random";
import type { ServiceProcess } from "./service-process";

export const merchant = parseMerchantId("acme");
/** Has authorizations at the gateway, too, which are none of ours. */
export const NOBODY_HERE = "another-merchant";
const EUR = parseCurrency("EUR");
export const AUTHORIZED = 1_000n;

/** What a caller wants, and under which key. */
export interface Wish {
  readonly kind: OperationKind;
  /** Null while nobody knows which payment the key makes. */
  readonly paymentId: PaymentId | null;
  readonly key: IdempotencyKey;
  /** In words: the same for the same request. */
  readonly content: string;
}

/** What a caller was told. */
export interface Told extends Wish {
  /** `succeeded`, `unknown`, or the code of a refusal. */
  readonly answer: string;
  /** What a success, or a state that nobody knows yet, was told with. */
  readonly shown: Shown | null;
}

export interface Shown {
  readonly operationId: string;
  readonly amount: bigint;
  readonly captured: bigint;
  readonly refunded: bigint;
}

/** A wish on its way to a process. */
export interface Request {
  readonly wish: Wish;
  /** How often it is sent. */
  readonly times: number;
  send(): Promise<Told>;
}

const behaviours = [
  "ok",
  "decline",
  "timeout_captured",
  "timeout_not_captured",
  "late_700",
  "late_90000",
  "late_900000",
  "late_7200000",
  "slow_100",
  "error_500",
  "error_500_stored",
  "unreachable",
  "unreachable",
  "processing",
  "pending",
  "pending_then_failed",
  "authorization_gone",
] as const;

/** Two of them ask for all that there is. */
const amounts = { k0: undefined, k1: 300n, k2: 700n, k3: 1_100n, k4: undefined, k5: 200n } as const;
type Key = keyof typeof amounts;
const keys = Object.keys(amounts) as [Key, ...Key[]];

/** Most are captured early, so that there is something to refund. */
const movements = ["capture", "capture", "capture", "void", "refund", "refund", "refund", "refund"] as const;

/** A caller's next request, drawn at random. Few keys, so that they meet; mostly the same wish for the same key. */
export function request(random: SeededRandom, process: ServiceProcess, paymentId: PaymentId | null): Request {
  const { locks, context } = process;
  const caller: Caller = {
    merchant,
    actor: { caller: "simulated" },
    lockTimeout: random.chance(0.8) ? "infinite" : 0,
  };
  if (paymentId === null) {
    return random.chance(0.15) ? imported(random, process, caller) : authorized(random, process, caller);
  }
  const kind = random.pick(movements);
  const key = random.pick(keys);
  const amount = kind === "void" ? undefined : amounts[random.chance(0.9) ? key : random.pick(keys)];
  const idempotencyKey = parseIdempotencyKey(key);
  const command = { paymentId, idempotencyKey, ...(amount === undefined ? {} : { amount }) };
  const useCase = {
    capture: () => new CapturePayment(locks, context).execute(command, caller),
    void: () => new VoidPayment(locks, context).execute(command, caller),
    refund: () => new RefundPayment(locks, context).execute(command, caller),
  }[kind];
  return once({ kind, paymentId, key: idempotencyKey, content: `${amount ?? "all"}` }, useCase);
}

function authorized(random: SeededRandom, { locks, context }: ServiceProcess, caller: Caller): Request {
  const idempotencyKey = parseIdempotencyKey(`order-${Math.floor(random.next() * 1e6)}`);
  const kind = random.pick(["authorize", "capture", "void", "refund", "refund", "refund"] as const);
  const command = {
    idempotencyKey,
    amount: money(AUTHORIZED, EUR),
    paymentMethod: random.chance(0.5) ? "tok_ok" : `tok_${kind}_${random.pick(behaviours)}`,
    reference: null,
    metadata: {},
    expiresInSeconds: random.chance(0.8) ? 7 * 86_400 : random.pick([60, 3_600]),
  };
  const again = random.chance(0.2);
  const ask = () => new AuthorizePayment(locks, context).execute(command, caller);
  const content = `${command.paymentMethod} for ${command.expiresInSeconds}`;
  return {
    ...once({ kind: "authorize", paymentId: null, key: idempotencyKey, content }, async () => {
      if (again) await ask().catch(() => undefined);
      return ask();
    }),
    times: again ? 2 : 1,
  };
}

/** Of few authorizations, so that they are imported more than once. */
function imported(
  random: SeededRandom,
  { locks, context, gateway }: ServiceProcess,
  caller: Caller,
): Request {
  const idempotencyKey = parseIdempotencyKey(`import-${Math.floor(random.next() * 50)}`);
  const owner = random.chance(0.8) ? merchant : NOBODY_HERE;
  const gatewayReference = `ext_${AUTHORIZED}_eur_${Math.floor(random.next() * 50)}.for_${owner}`;
  const command = {
    idempotencyKey,
    gatewayReference,
    reference: null,
    metadata: {},
    expiresInSeconds: random.pick([60, 3_600, null]),
  };
  const content = `${gatewayReference} for ${command.expiresInSeconds}`;
  return once({ kind: "authorize", paymentId: null, key: idempotencyKey, content }, () =>
    new ImportAuthorization(locks, context, gateway, "shared").execute(command, caller),
  );
}

function once(wish: Wish, ask: () => Promise<OperationOutcome>): Request {
  return { wish, times: 1, send: () => told(wish, ask) };
}

async function told(wish: Wish, ask: () => Promise<OperationOutcome>): Promise<Told> {
  try {
    const { operation, payment } = await ask();
    const shown = {
      operationId: operation.id,
      amount: operation.amount,
      captured: amountCaptured(payment),
      refunded: amountRefunded(payment),
    };
    const answer = operation.status === "succeeded" ? "succeeded" : "unknown";
    return { ...wish, paymentId: payment.facts.id, answer, shown };
  } catch (error) {
    if (!isForeseen(error)) throw error;
    const named =
      error instanceof PaymentError ? (error.facts as { paymentId?: string }).paymentId : undefined;
    const paymentId = named === undefined ? wish.paymentId : parsePaymentId(named);
    const isUnknown = error instanceof StoreUnavailableError && error.outcome === "unknown";
    return { ...wish, paymentId, answer: isUnknown ? "outcome unknown" : error.code, shown: null };
  }
}

/** Everything else that a caller could meet would be a defect. */
export function isForeseen(error: unknown): error is PaymentError | LockError | StoreUnavailableError {
  return (
    error instanceof PaymentError || error instanceof LockError || error instanceof StoreUnavailableError
  );
}

/** Codes that end an operation, not ones that only say that there was none. */
export function isFinalRefusal(answer: string): boolean {
  return answer.endsWith("_declined");
}
