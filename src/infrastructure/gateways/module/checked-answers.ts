import type { LookupAnswer } from "../../../application/ports/authorization-lookup";
import type {
  FindAnswer,
  GatewayAnswer,
  Mismatch,
  RecordedAnswer,
} from "../../../application/ports/payment-gateway";
import { money, parseCurrency, type Money } from "../../../domain/money";
import { InvalidValueError } from "../../../domain/payment/errors";
import { oneLine } from "./in-print";

/**
 * What a module answers, read as what came over a network is read: what makes no sense is `unknown`, and never a success
 * or a refusal.
 */
type Fields = Readonly<Record<string, unknown>>;

export function checkedAnswer(answer: unknown): GatewayAnswer {
  const fields = fieldsOf(answer);
  switch (fields["outcome"]) {
    case "not_sent":
      return { outcome: "not_sent", reason: reasonOf(fields) };
    case "unknown":
      return { outcome: "unknown", reason: reasonOf(fields) };
    default:
      return checkedRecord(fields) ?? nonsense(fields);
  }
}

export function checkedFind(answer: unknown): FindAnswer {
  const fields = fieldsOf(answer);
  switch (fields["outcome"]) {
    case "absent":
    case "pending":
      return { outcome: fields["outcome"] };
    case "unknown":
      return { outcome: "unknown", reason: reasonOf(fields) };
    default:
      return checkedRecord(fields) ?? nonsense(fields);
  }
}

export function checkedLookup(answer: unknown): LookupAnswer {
  const fields = fieldsOf(answer);
  const { outcome, merchant } = fields;
  const said = typeof merchant === "string" ? merchant : merchant === null ? null : undefined;
  switch (outcome) {
    case "not_found":
      return { outcome };
    case "unknown":
      return { outcome, reason: reasonOf(fields) };
    case "not_capturable":
    case "undecided":
      return said === undefined ? nonsense(fields) : { outcome, merchant: said, reason: reasonOf(fields) };
    case "found": {
      const found = fieldsOf(fields["authorization"]);
      const { reference, expiresAt = null, paymentId = null } = found;
      const amount = amountOf(found["amount"]);
      if (said === undefined || amount === null || !isReference(reference)) return nonsense(fields);
      if (expiresAt !== null && !isDate(expiresAt)) return nonsense(fields);
      if (paymentId !== null && typeof paymentId !== "string") return nonsense(fields);
      return { outcome, merchant: said, authorization: { reference, amount, expiresAt, paymentId } };
    }
    default:
      return nonsense(fields);
  }
}

function checkedRecord(fields: Fields): RecordedAnswer | Mismatch | null {
  const { outcome, reference, expiresAt } = fields;
  switch (outcome) {
    case "succeeded":
      if (!isReference(reference) || (expiresAt !== undefined && !isDate(expiresAt))) return null;
      return { outcome, reference, ...(expiresAt !== undefined && { expiresAt }) };
    case "declined":
    case "authorization_gone":
      return { outcome, reason: reasonOf(fields) };
    case "mismatch":
      return {
        outcome,
        evidence: reasonOf({ reason: fields["evidence"] }),
        ...(isReference(reference) && { reference }),
        ...(fields["captured"] === true && { captured: true }),
      };
    default:
      return null;
  }
}

function nonsense({ outcome }: Fields): { readonly outcome: "unknown"; readonly reason: string } {
  const said = typeof outcome === "string" ? oneLine(outcome) : typeof outcome;
  return { outcome: "unknown", reason: `an answer that makes no sense (outcome ${said})` };
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function reasonOf({ reason }: Fields): string {
  return typeof reason === "string" && reason.trim() !== "" ? oneLine(reason) : "no reason was given";
}

function isReference(value: unknown): value is string {
  return typeof value === "string" && /^[^\p{Cc}\p{Cs}]{1,255}$/u.test(value);
}

function isDate(value: unknown): value is Date {
  return value instanceof Date && !Number.isNaN(value.getTime());
}

function amountOf(value: unknown): Money | null {
  const { amount, currency, exponent } = fieldsOf(value);
  if (typeof amount !== "bigint" || typeof currency !== "string") return null;
  try {
    const read = money(amount, parseCurrency(currency));
    return read.exponent === exponent ? read : null;
  } catch (error) {
    if (error instanceof InvalidValueError) return null;
    throw error;
  }
}
