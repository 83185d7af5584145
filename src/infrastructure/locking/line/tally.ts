/** Counts what is under way, so that closing can wait for it. */
export class Tally {
  private count = 0;
  private whenIdle: (() => void)[] = [];

  begin(): void {
    this.count += 1;
  }

  end(): void {
    this.count -= 1;
    if (this.count > 0) return;
    for (const callback of this.whenIdle) callback();
    this.whenIdle = [];
  }

  async idle(): Promise<void> {
    if (this.count > 0) await new Promise<void>((resolve) => this.whenIdle.push(resolve));
  }
}
