import type { Movement } from "./payment-call";
import { left, type Operation, type PaymentState } from "./payment-state";

/** The first row of the movement's own table that holds. Null: it is carried out. */
export function objection(
  state: PaymentState,
  { kind, amount, currency }: Movement,
  known: Operation | undefined,
): string | null {
  const wanted = known?.amount ?? amount;
  const otherCurrency = currency !== null && currency !== state.currency;
  switch (kind) {
    case "authorize":
      return state.status === "none" || known !== undefined ? null : "no second authorization";
    case "capture":
      if (state.status === "captured") return "payment_already_captured";
      if (state.status === "expired") return "payment_expired";
      if (state.status !== "authorized") return "payment_not_capturable";
      if ((wanted ?? 0) > state.amount) return "amount_exceeds_authorized";
      return otherCurrency ? "currency_mismatch" : null;
    case "void":
      return state.status === "authorized" ? null : "payment_not_voidable";
    case "refund":
      if (state.status !== "captured") return "payment_not_refundable";
      if (left(state) === 0 || (wanted ?? 0) > left(state)) return "amount_exceeds_captured";
      return otherCurrency ? "currency_mismatch" : null;
  }
}
