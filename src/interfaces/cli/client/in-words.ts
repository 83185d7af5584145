import { formatMoney, type Currency } from "../../../domain/money";

/** The fields that a server sends and a person reads. */
export interface WirePayment {
  readonly id: string;
  readonly status: string;
  readonly amount: number;
  readonly currency: string;
  readonly currencyExponent: number | null;
  readonly amountCaptured: number;
  readonly amountRefunded: number;
  readonly reference: string | null;
  readonly expiresAt: string;
  readonly createdAt: string;
  /** Servers of before have none. */
  readonly disputes?: readonly WireDispute[];
  readonly nextAction?: { readonly url: string; readonly expiresAt: string };
}

interface WireDispute {
  readonly id: string;
  readonly status: string;
  readonly amount: number;
  readonly reason: string;
  readonly dueBy: string | null;
}

export interface WireOperation {
  readonly id: string;
  readonly status: string;
  readonly amount: number;
}

export interface WireEvent {
  readonly type: string;
  readonly at: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** As the server counts, whatever this program would think of the currency. */
export function amountText(
  minorUnits: number,
  { currency, currencyExponent }: Pick<WirePayment, "currency" | "currencyExponent">,
): string {
  return formatMoney({
    amount: BigInt(minorUnits),
    currency: currency as Currency,
    exponent: currencyExponent,
  });
}

export function paymentText(payment: WirePayment): string {
  const { id, status, amount, amountCaptured, amountRefunded, reference, expiresAt, nextAction } = payment;
  const lines = [`payment ${id}: ${status}, ${amountText(amount, payment)}`];
  if (amountCaptured > 0) lines.push(`captured ${amountText(amountCaptured, payment)}`);
  if (amountRefunded > 0) lines.push(`refunded ${amountText(amountRefunded, payment)}`);
  if (status === "authorized") lines.push(`can be captured until ${expiresAt}`);
  if (nextAction !== undefined) {
    lines.push(`send the customer to ${nextAction.url}, until ${nextAction.expiresAt}`);
  }
  if (reference !== null) lines.push(`reference ${reference}`);
  for (const dispute of payment.disputes ?? []) lines.push(disputeText(dispute, payment));
  return lines.join("\n  ");
}

function disputeText({ id, status, amount, reason, dueBy }: WireDispute, payment: WirePayment): string {
  const until = dueBy === null ? "" : `, evidence until ${dueBy}`;
  return `dispute ${id}: ${status}, ${amountText(amount, payment)}, ${reason}${until}`;
}

/** One line of a payment's history: when, what, and everything that led to it. */
export function eventText({ type, at, data }: WireEvent): string {
  const { by, lock, gateway, ...own } = data as {
    by?: Record<string, unknown>;
    lock?: { fencingToken?: string; waitedMs?: number; waitedFor?: string };
    gateway?: { asked?: string; key?: string; answer?: string; reason?: string };
  } & Record<string, unknown>;
  const parts = [
    facts(own),
    by === undefined ? "" : `by ${facts(by)}`,
    lock === undefined
      ? ""
      : `lock: waited ${lock.waitedMs ?? 0} ms${waitedFor(lock)}, token ${lock.fencingToken}`,
    gateway === undefined ? "" : `gateway: ${gateway.asked} ${gateway.key ?? ""} answered ${gateway.answer}`,
  ];
  return `${at}  ${type.padEnd(27)} ${parts.filter((part) => part !== "").join("; ")}`;
}

function waitedFor({ waitedFor: whom }: { waitedFor?: string }): string {
  return whom === undefined ? "" : ` for ${whom}`;
}

function facts(data: Readonly<Record<string, unknown>>): string {
  return Object.entries(data)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ");
}
