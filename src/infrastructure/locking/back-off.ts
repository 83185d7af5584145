const FIRST_MS = 10;
const LONGEST_MS = 1000;

/** How long to leave a backend alone between two attempts: 10 ms, doubling to 1 s, a quarter of it by chance. */
export class BackOff {
  private baseMs = FIRST_MS;

  constructor(private readonly random: () => number) {}

  next(): number {
    const delayMs = this.baseMs * (0.75 + this.random() / 4);
    this.baseMs = Math.min(this.baseMs * 2, LONGEST_MS);
    return delayMs;
  }

  restart(): void {
    this.baseMs = FIRST_MS;
  }
}
