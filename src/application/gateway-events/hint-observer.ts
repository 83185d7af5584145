/** By which way an event came. */
export type HintSource = "webhook" | "list";
export type Reception = "accepted" | "duplicate" | "ignored";
/** `done`: the gateway has answered about all there is. `foreign`: the payment is in another account than the event. */
export type HintOutcome = "done" | "foreign" | "no_payment" | "busy" | "unanswered";

/** What happens to events of the gateway, for logs and metrics. Nothing of their content but references. */
export interface HintObserver {
  received(source: HintSource, reception: Reception, events: number): void;
  worked(outcome: HintOutcome, reference: string): void;
  /** Nobody knows its payment, or nobody could be asked about it, for as long as a hint is kept. */
  dropped(reference: string): void;
  droppedBeyondLimit(hints: number): void;
  /** Something else than a payment failed; it is tried again. */
  failed(error: unknown): void;
}
