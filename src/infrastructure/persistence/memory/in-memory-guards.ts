import {
  DuplicateAuthorizationError,
  DuplicateKeyError,
  VersionConflictError,
  type StoredPayment,
} from "../../../application/ports/payment-repository";
import { isOpen, type Operation } from "../../../domain/payment/operation";
import type { Payment } from "../../../domain/payment/payment";
import type { PaymentEvent } from "../../../domain/payment/events";

/** What is about to be written, beside what is there. */
export interface Write {
  readonly payment: Payment;
  readonly expectedVersion: number | "new";
  /** What will be stored: as the database has it, rows that others wrote meanwhile included. */
  readonly operations: readonly Operation[];
  readonly stored: StoredPayment | undefined;
  readonly storedEvents: readonly PaymentEvent[];
  readonly authorizeKeyTaken: boolean;
  readonly authorizationTaken: boolean;
}

/** One reason to refuse a write. Each holds without the others. */
export interface Guard<Name extends string = GuardName> {
  readonly name: Name;
  readonly refuses: (write: Write) => boolean;
  readonly error: (write: Write) => Error;
}

export type GuardName =
  | "version"
  | "one_payment_per_authorize_key"
  | "one_payment_per_authorization"
  | "one_open_operation"
  | "one_succeeded_capture"
  | "one_operation_per_key"
  | "one_operation_per_movement_elsewhere"
  | "captured_within_authorized"
  | "refunded_within_captured"
  | "one_event_per_sequence";

/** The guards of the SQL schema, and the version, in the order in which they are asked. */
export const inMemoryGuards: readonly Guard[] = [
  conflict("version", ({ expectedVersion, stored }) => (stored?.version ?? "new") !== expectedVersion),
  {
    name: "one_payment_per_authorize_key",
    refuses: ({ authorizeKeyTaken }) => authorizeKeyTaken,
    error: ({ payment: { facts } }) => {
      const key = facts.operations.find(({ kind }) => kind === "authorize")?.idempotencyKey;
      return key === undefined || key === null
        ? new VersionConflictError(facts.id)
        : new DuplicateKeyError(facts.merchant, key);
    },
  },
  {
    name: "one_payment_per_authorization",
    refuses: ({ authorizationTaken }) => authorizationTaken,
    error: ({ payment: { facts } }) => new DuplicateAuthorizationError(facts.authorizationReference ?? ""),
  },
  conflict("one_open_operation", ({ operations }) => operations.filter(isOpen).length > 1),
  conflict(
    "one_succeeded_capture",
    ({ operations }) => operations.filter((operation) => isSucceeded("capture", operation)).length > 1,
  ),
  conflict("one_operation_per_key", ({ operations }) =>
    operations.some((one) =>
      operations.some(
        (other) =>
          one.id !== other.id &&
          one.kind === other.kind &&
          one.idempotencyKey !== null &&
          one.idempotencyKey === other.idempotencyKey,
      ),
    ),
  ),
  conflict("one_operation_per_movement_elsewhere", ({ operations }) => {
    const elsewhere = operations
      .filter(({ origin, gatewayReference }) => origin === "gateway" && gatewayReference !== null)
      .map(({ kind, gatewayReference }) => `${kind} ${gatewayReference}`);
    return new Set(elsewhere).size < elsewhere.length;
  }),
  conflict(
    "captured_within_authorized",
    ({ payment, operations }) => total("capture", operations) > payment.facts.amount.amount,
  ),
  conflict(
    "refunded_within_captured",
    ({ operations }) => total("refund", operations) > total("capture", operations),
  ),
  conflict("one_event_per_sequence", ({ payment, storedEvents }) =>
    payment.newEvents.some(({ sequence }) => storedEvents.some((event) => event.sequence === sequence)),
  ),
];

function conflict(name: GuardName, refuses: Guard["refuses"]): Guard {
  return { name, refuses, error: ({ payment }) => new VersionConflictError(payment.facts.id) };
}

function isSucceeded(kind: "capture" | "refund", operation: Operation): boolean {
  return operation.kind === kind && operation.status === "succeeded";
}

function total(kind: "capture" | "refund", operations: readonly Operation[]): bigint {
  return operations
    .filter((operation) => isSucceeded(kind, operation))
    .reduce((sum, { amount }) => sum + amount, 0n);
}
