import type { PaymentEvent } from "../../../domain/payment/events";

const SETTLING = /\.(succeeded|failed|unknown|pending|not_sent|requires_action)$/;

/** What a save is for, by what it adds to the history. Never with an id: names are few. */
export function nameOfSave(events: readonly PaymentEvent[]): "intent" | "settlement" | "save payment" {
  if (events.some(({ type }) => type.endsWith(".started"))) return "intent";
  return events.some(({ type }) => SETTLING.test(type)) ? "settlement" : "save payment";
}

/** The operations that a save is about. */
export function operationsIn(events: readonly PaymentEvent[]): readonly string[] {
  return [
    ...new Set(
      events.flatMap(({ data }) => {
        const { operationId } = data;
        return typeof operationId === "string" ? [operationId] : [];
      }),
    ),
  ];
}
