/** Wall-clock time for decisions about payments. Adapters MUST answer with the current instant on every call. */
export interface Clock {
  now(): Date;
}
