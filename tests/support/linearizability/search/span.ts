/** Something that happened, or may have happened, at one moment between two times. */
export interface Span<Call> {
  readonly begin: number;
  /** `Infinity`: it is not known when it ended, so it may happen at any time after its begin, or never. */
  readonly end: number;
  readonly call: Call;
  /** Whether it has taken effect by its end. What may have taken effect or not is not required. */
  readonly required: boolean;
  /** It changes nothing wherever it takes effect: the object is asked, or refuses. */
  readonly onlyLooks?: boolean;
  /** It is not counted how often it takes effect: of a model in which a second time differs little, and explains no more. */
  readonly isLasting?: boolean;
  /** Spans with one name that are not required are interchangeable: which of them took effect makes no difference. */
  readonly alike?: string;
}

/** An object as its callers are told that it works, one call at a time. */
export interface Model<State, Call> {
  readonly initial: State;
  /** Two states with one name are one state. */
  nameOf(state: State): string;
  /** Where the object may be after the call has taken effect here. Empty: it cannot take effect here. */
  apply(state: State, call: Call): readonly State[];
  /** Where the object may go without any call. */
  onItsOwn?(state: State): readonly State[];
  /** Whether it is certain that nothing that may happen from here on leads to where the look fits. */
  isPast?(state: State, look: Call): boolean;
}

export type Verdict<State, Call> =
  | { readonly isGood: true }
  | {
      readonly isGood: false;
      /** Everything that ended before it has an explanation; together with it, there is none. */
      readonly unexplained: Span<Call>;
      /** Required spans that have one. */
      readonly explained: number;
      /** Where the object may have been when the unexplained one ended. */
      readonly states: readonly State[];
    };
