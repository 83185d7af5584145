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
