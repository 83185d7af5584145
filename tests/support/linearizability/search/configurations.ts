import type { Model } from "./span";

/** One way in which a history may have gone so far: where the object is, and which pending spans have taken effect. */
export interface Configuration<State> {
  readonly state: State;
  readonly done: bigint;
}

/** Each one once. */
export class Configurations<State> {
  private readonly byName = new Map<string, Configuration<State>>();

  constructor(private readonly model: Pick<Model<State, never>, "nameOf">) {}

  /** Whether it is a new one. */
  add(configuration: Configuration<State>): boolean {
    const name = `${configuration.done.toString(36)} ${this.model.nameOf(configuration.state)}`;
    if (this.byName.has(name)) return false;
    this.byName.set(name, configuration);
    return true;
  }

  all(): Configuration<State>[] {
    return [...this.byName.values()];
  }

  get size(): number {
    return this.byName.size;
  }

  /**
   * Of two in one state, one may have taken all the looks of the other, and have used the same of everything else:
   * whatever comes, it explains what the other explains.
   */
  dropWhatSaysLess(looks: bigint): void {
    const byState = new Map<string, [string, Configuration<State>][]>();
    for (const [name, one] of this.byName) {
      const state = this.model.nameOf(one.state);
      byState.set(state, [...(byState.get(state) ?? []), [name, one]]);
    }
    for (const same of byState.values())
      for (const [name, { done }] of same) {
        const isLess = same.some(
          ([other, { done: more }]) =>
            other !== name &&
            this.byName.has(other) &&
            (done & looks & ~more) === 0n &&
            (more & ~looks) === (done & ~looks),
        );
        if (isLess) this.byName.delete(name);
      }
  }
}
