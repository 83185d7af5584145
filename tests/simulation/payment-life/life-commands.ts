import type { OperationOutcome } from "../../../src/application/operations/operation-outcome";
import type { Caller } from "../../../src/application/operations/through-gateway";
import { LockError } from "../../../src/application/ports/lock-errors";
import { StoreUnavailableError } from "../../../src/application/ports/payment-repository";
import { AuthorizePayment } from "../../../src/application/use-cases/authorize-payment";
import { CapturePayment } from "../../../src/application/use-cases/capture-payment";
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
import type { OperationKind } from "../../../src/domain/operation";
import { PaymentError } from "../../../src/domain/payment-errors";
import type { SeededRandom } from "../lease/seeded-random";
import type { ServiceProcess } from "./service-process";

export const merchant = parseMerchantId("acme");
const EUR = parseCurrency("EUR");

/** What a caller was told, and under which key they asked. */
export interface Told {
  readonly kind: OperationKind;
  /** Null while nobody knows which payment the key has made. */
  readonly paymentId: PaymentId | null;
  readonly key: IdempotencyKey;
  /** `succeeded`, `unknown`, or the code of a refusal. */
  readonly answer: string;
  readonly operationId: string | null;
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
  "processing",
  "authorization_gone",
] as const;

/** A caller's next request, drawn at random. Few keys, so that they meet; mostly the same wish for the same key. */
export function request(
  random: SeededRandom,
  process: ServiceProcess,
  paymentId: PaymentId | null,
): Promise<Told> {
  const { context } = process;
  const caller: Caller = {
    merchant,
    actor: { caller: "simulated" },
    lockTimeout: random.chance(0.8) ? "infinite" : 0,
  };
  if (paymentId === null) {
    const key = parseIdempotencyKey(`order-${Math.floor(random.next() * 1e6)}`);
    const again = random.chance(0.2);
    const once = authorize(random, key);
    return told("authorize", null, key, async () => {
      if (again) await new AuthorizePayment(context).execute(once, caller).catch(() => undefined);
      return new AuthorizePayment(context).execute(once, caller);
    });
  }
  const kind = random.pick(["capture", "capture", "void", "refund", "refund"] as const);
  const key = parseIdempotencyKey(`k${Math.floor(random.next() * 4)}`);
  const amount = wanted(random, key);
  const command = { paymentId, idempotencyKey: key, ...(amount === undefined ? {} : { amount }) };
  switch (kind) {
    case "capture":
      return told(kind, paymentId, key, () => new CapturePayment(context).execute(command, caller));
    case "void":
      return told(kind, paymentId, key, () => new VoidPayment(context).execute(command, caller));
    case "refund":
      return told(kind, paymentId, key, () => new RefundPayment(context).execute(command, caller));
  }
}

function authorize(random: SeededRandom, idempotencyKey: IdempotencyKey) {
  const kind = random.pick(["authorize", "capture", "void", "refund"] as const);
  return {
    idempotencyKey,
    amount: money(1_000n, EUR),
    paymentMethod: random.chance(0.5) ? "tok_ok" : `tok_${kind}_${random.pick(behaviours)}`,
    reference: null,
    metadata: {},
    expiresInSeconds: random.pick([60, 3_600, 7 * 86_400]),
  };
}

function wanted(random: SeededRandom, key: string): bigint | undefined {
  const choice = random.chance(0.9) ? key : `k${Math.floor(random.next() * 4)}`;
  return { k0: undefined, k1: 300n, k2: 700n, k3: 1_100n }[choice];
}

async function told(
  kind: OperationKind,
  paymentId: PaymentId | null,
  key: IdempotencyKey,
  ask: () => Promise<OperationOutcome>,
): Promise<Told> {
  try {
    const { operation, payment } = await ask();
    const answer = operation.status === "succeeded" ? "succeeded" : "unknown";
    return { kind, paymentId: payment.id, key, answer, operationId: operation.id };
  } catch (error) {
    if (!isForeseen(error)) throw error;
    const named =
      error instanceof PaymentError ? (error.facts as { paymentId?: string }).paymentId : undefined;
    return {
      kind,
      paymentId: named === undefined ? paymentId : parsePaymentId(named),
      key,
      answer: error.code,
      operationId: null,
    };
  }
}

/** Everything else that a caller could meet would be a defect. */
export function isForeseen(error: unknown): error is PaymentError | LockError | StoreUnavailableError {
  return (
    error instanceof PaymentError || error instanceof LockError || error instanceof StoreUnavailableError
  );
}
