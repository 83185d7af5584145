const FIRST_MS = 10;
const DOUBLED_UP_TO_MS = 1000;
/** From there on a tenth longer each time: nobody waits much longer than it had to, and hours cost next to nothing. */
const SLOW_GROWTH = 1.1;
/**
 * Who is in front at a lease has to look again before its turn is over (`yieldMs`, 5 s), and a hand-over whose two writes
 * are each refused once by 429 (1.3 s) has to fit into 6 s.
 */
const LONGEST_MS = 3000;

/** How long to leave a backend alone between two attempts: 10 ms, doubling to 1 s, slowly on to 3 s, a quarter of it by chance. */
export class BackOff {
  private baseMs = FIRST_MS;

  constructor(private readonly random: () => number) {}

  next(): number {
    const delayMs = this.baseMs * (0.75 + this.random() / 4);
    this.baseMs =
      this.baseMs < DOUBLED_UP_TO_MS
        ? Math.min(this.baseMs * 2, DOUBLED_UP_TO_MS)
        : Math.min(this.baseMs * SLOW_GROWTH, LONGEST_MS);
    return delayMs;
  }

  restart(): void {
    this.baseMs = FIRST_MS;
  }
}
