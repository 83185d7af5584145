import { serialize } from "node:v8";
import type { Payment } from "../../src/domain/payment/payment";
import { restored } from "../../src/domain/payment/restored";

/** Steps of a model take and give names, so that what a process has seen can be compared: a payment's is the same for the same facts. */
const names = new Map<string, string>();
const payments = new Map<string, Payment>();
/** A payment does not change, and is looked at after each step. */
const known = new WeakMap<Payment, string>();

export function nameOf(payment: Payment): string {
  return known.get(payment) ?? named(payment);
}

function named(payment: Payment): string {
  const text = serialize(payment.facts).toString("latin1");
  const name = names.get(text) ?? `p${names.size + 1}`;
  known.set(payment, name);
  if (names.has(text)) return name;
  const stored = restored(payment.facts);
  names.set(text, name);
  known.set(stored, name);
  payments.set(name, stored);
  return name;
}

export function paymentOf(name: string): Payment {
  const payment = payments.get(name);
  if (payment === undefined) throw new Error("no such payment");
  return payment;
}
