import type { LookupAnswer } from "../../../application/ports/authorization-lookup";
import type {
  ActionRequired,
  FindAnswer,
  GatewayAnswer,
  Mismatch,
  RecordedAnswer,
} from "../../../application/ports/payment-gateway";
import { money, parseCurrency, type Money } from "../../../domain/money";
import type { PendingAnswer } from "../../../domain/payment/facts";
import { InvalidValueError } from "../../../domain/payment/errors";
import { oneLine } from "./in-print";
import { isDate, isPlainDate, isReference } from "./value-forms";

/**
 * What a module answers, read as what came over a network is read: what makes no sense, or lacks what its type requires, is
 * `unknown`, and never a success or a refusal.
 */
type Fields = Readonly<Record<string, unknown>>;

export function checkedAnswer(answer: unknown): GatewayAnswer {
  const fields = fieldsOf(answer);
  switch (fields["outcome"]) {
    case "not_sent": {
      const reason = wordsOf(fields["reason"]);
      return reason === null ? nonsense(fields) : { outcome: "not_sent", reason };
    }
    case "unknown":
      return { outcome: "unknown", reason: reasonOf(fields) };
    default:
      return checkedPending(fields) ?? checkedAction(fields) ?? checkedRecord(fields) ?? nonsense(fields);
  }
}

export function checkedFind(answer: unknown): FindAnswer {
  const fields = fieldsOf(answer);
  switch (fields["outcome"]) {
    case "absent":
      return { outcome: "absent" };
    case "unknown":
      return { outcome: "unknown", reason: reasonOf(fields) };
    default:
      return checkedPending(fields) ?? checkedAction(fields) ?? checkedRecord(fields) ?? nonsense(fields);
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
    case "undecided": {
      const reason = wordsOf(fields["reason"]);
      if (said === undefined || reason === null) return nonsense(fields);
      return { outcome, merchant: said, reason };
    }
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

/** What is not whole may be no promise at all: the key is sent again, or asked about, as after silence. */
function checkedPending({ outcome, reference, decidesBy }: Fields): PendingAnswer | null {
  if (outcome !== "pending") return null;
  if (reference !== undefined && !isReference(reference)) return null;
  if (decidesBy !== undefined && !isPlainDate(decidesBy)) return null;
  return {
    outcome,
    ...(reference !== undefined && { reference }),
    ...(decidesBy !== undefined && { decidesBy }),
  };
}

/** A page of this server, as the simulated gateway has them, is none of a module's. */
function checkedAction(fields: Fields): ActionRequired | null {
  const { outcome, reference, url, until } = fields;
  if (outcome !== "requires_action" || !isReference(reference) || !isPage(url)) return null;
  if (until !== undefined && !isDate(until)) return null;
  return { outcome, reference, url, ...(until !== undefined && { until }) };
}

/** Browsers are sent there. */
function isPage(url: unknown): url is string {
  return (
    typeof url === "string" &&
    url.length <= 2_048 &&
    /^https?:\/\/[^\p{Cc}\p{Cs}]+$/u.test(url) &&
    URL.canParse(url)
  );
}

function checkedRecord(fields: Fields): RecordedAnswer | Mismatch | null {
  const { outcome, reference, expiresAt } = fields;
  switch (outcome) {
    case "succeeded":
      if (!isReference(reference) || (expiresAt !== undefined && !isDate(expiresAt))) return null;
      return { outcome, reference, ...(expiresAt !== undefined && { expiresAt }) };
    case "declined":
    case "authorization_gone": {
      const reason = wordsOf(fields["reason"]);
      return reason === null ? null : { outcome, reason };
    }
    case "mismatch":
      return checkedMismatch(fields);
    default:
      return null;
  }
}

function checkedMismatch(fields: Fields): Mismatch | null {
  const { reference, captured } = fields;
  const evidence = wordsOf(fields["evidence"]);
  if (evidence === null || (reference !== undefined && !isReference(reference))) return null;
  if (captured !== undefined && captured !== true) return null;
  return {
    outcome: "mismatch",
    evidence,
    ...(reference !== undefined && { reference }),
    ...(captured && { captured }),
  };
}

function nonsense({ outcome }: Fields): { readonly outcome: "unknown"; readonly reason: string } {
  const said = typeof outcome === "string" ? oneLine(outcome) : typeof outcome;
  return { outcome: "unknown", reason: `an answer that makes no sense (outcome ${said})` };
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function reasonOf({ reason }: Fields): string {
  return wordsOf(reason) ?? "no reason was given";
}

/** Null for what says nothing. */
function wordsOf(value: unknown): string | null {
  const words = typeof value === "string" ? oneLine(value).trim() : "";
  return words === "" ? null : words;
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
