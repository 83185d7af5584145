import type { VNode } from "preact";
import type { Caller } from "../../../application/operations/caller";
import type { OperationOutcome } from "../../../application/operations/operation-outcome";
import type { IdempotencyKey, PaymentId } from "../../../domain/identifiers";
import {
  amountCapturable,
  amountCaptured,
  amountRefunded,
  visibleStatus,
  type Payment,
} from "../../../domain/payment/payment";
import type { ConsoleParts } from "../console-parts";
import { inCurrency } from "../html/money";
import { h } from "../html/h";

export interface MovementCommand {
  readonly paymentId: PaymentId;
  readonly idempotencyKey: IdempotencyKey;
  /** Undefined for a void, which lets go of all of it. */
  readonly amount: bigint | undefined;
}

/** One way to move a payment's money, in words for the person who is about to do it. */
export interface ConsoleMovement {
  readonly name: "capture" | "void" | "refund";
  readonly title: string;
  readonly done: string;
  readonly isDangerous: boolean;
  /** How much of it there is at most; null where it is no longer to be done. */
  readonly most: (payment: Payment) => bigint | null;
  /** Whether a part of it can be asked for. */
  readonly takesAmount: boolean;
  readonly effect: (payment: Payment, amount: bigint) => VNode;
  readonly move: (parts: ConsoleParts, command: MovementCommand, caller: Caller) => Promise<OperationOutcome>;
}

export const movements: readonly ConsoleMovement[] = [
  {
    name: "capture",
    title: "Capture",
    done: "Captured",
    isDangerous: false,
    takesAmount: true,
    most: (payment) => positive(amountCapturable(payment)),
    effect: ({ facts }, amount) => {
      const rest = facts.amount.amount - amount;
      const released = rest > 0n ? ` The remaining ${inCurrency(rest, facts.amount)} is released.` : "";
      return h(
        "p",
        null,
        `The gateway takes ${inCurrency(amount, facts.amount)} from the customer, once.${released} ` +
          "It can be given back by a refund.",
      );
    },
    move: ({ capturePayment }, command, caller) => capturePayment.execute(command, caller),
  },
  {
    name: "void",
    title: "Void",
    done: "Voided",
    isDangerous: true,
    takesAmount: false,
    most: (payment) =>
      ["authorized", "requires_action"].includes(visibleStatus(payment)) ? payment.facts.amount.amount : null,
    effect: ({ facts }) =>
      h(
        "p",
        null,
        `The reserved ${inCurrency(facts.amount.amount, facts.amount)} is let go. The payment can never be captured after that.`,
      ),
    move: ({ voidPayment }, { paymentId, idempotencyKey }, caller) =>
      voidPayment.execute({ paymentId, idempotencyKey }, caller),
  },
  {
    name: "refund",
    title: "Refund",
    done: "Refunded",
    isDangerous: true,
    takesAmount: true,
    most: (payment) =>
      visibleStatus(payment) === "captured"
        ? positive(amountCaptured(payment) - amountRefunded(payment))
        : null,
    effect: (payment, amount) => {
      const { facts } = payment;
      const left = amountCaptured(payment) - amountRefunded(payment) - amount;
      return h(
        "p",
        null,
        `The gateway gives ${inCurrency(amount, facts.amount)} back to the customer. ` +
          `${left > 0n ? `${inCurrency(left, facts.amount)} stays captured.` : "Nothing stays captured."} A refund cannot be taken back.`,
      );
    },
    move: ({ refundPayment }, command, caller) => refundPayment.execute(command, caller),
  },
];

function positive(amount: bigint): bigint | null {
  return amount > 0n ? amount : null;
}
