import type { OperationId } from "../identifiers";
import type { EventData } from "./events";
import type { Operation } from "./operation";

/** All that a step of a payment takes from outside, because the domain has no clock, no randomness and no settings. */
export interface Step {
  readonly now: Date;
  /** For the events that tell of the step, and for the operations that begin by it. */
  readonly nextId: () => string;
  readonly schedule: Schedule;
  /** Why and how it came to this step: the caller, the wait for the lock, the gateway's words. Goes into each event. */
  readonly trace: EventData;
  /** What a person has decided against the gateway: that it still says otherwise reopens nothing. */
  readonly overridden?: ReadonlySet<OperationId>;
}

/** When the gateway is asked next, counted from the step's `now`, after so many questions in vain. */
export interface Schedule {
  /** Null: it has been asked often enough, and a person decides. */
  readonly nextQuestion: (attempts: number) => Date | null;
  /** Of a release, for which no caller waits. Null likewise. */
  readonly nextRelease: (attempts: number) => Date | null;
  /** Of an operation that the gateway has taken and not decided. */
  readonly nextWhilePending: (attempts: number) => Date;
  /** Until when the gateway decides what it takes now, where it does not say so itself. */
  readonly decidesBy: Date;
  /** Of an operation in review, for as long as the review lasts. */
  readonly nextInReview: (attempts: number) => Date;
  /** Of an authorization that waits for the customer. */
  readonly nextOfCustomer: (attempts: number) => Date;
  /** Until when a customer is waited for who is sent to the gateway's page now. */
  readonly customersEnd: Date;
  readonly isDue: (operation: Operation) => boolean;
}
