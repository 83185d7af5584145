/** A point that something waits at until the test lets it through. */
export class Gate {
  private letThrough!: () => void;
  readonly passed = new Promise<void>((resolve) => (this.letThrough = resolve));

  open(): void {
    this.letThrough();
  }
}

/** Lets everything run that needs neither a timer nor input or output. */
export async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}

/** Waits, as often as everything else has had its turn, for something that cannot be awaited. */
export async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; !condition(); turn += 1) {
    if (turn === 1_000_000) throw new Error("it never came to this");
    await settled();
  }
}
