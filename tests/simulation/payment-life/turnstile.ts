import { setImmediate as nextTurn } from "node:timers/promises";

interface Waiting {
  readonly owner: object;
  readonly go: () => void;
  readonly abandon: () => void;
}

/** Where everything waits that a process does to the world: the simulation lets it go on, one at a time, or never. */
export class Turnstile {
  private readonly waiting: Waiting[] = [];
  private underWay = 0;

  get size(): number {
    return this.waiting.length;
  }

  /** `onEnd`: what becomes of it when its owner is gone. Whoever is only forgotten waits for ever. */
  pass(owner: object, onEnd: "forgotten" | "told"): Promise<void> {
    return new Promise((go, reject) => {
      const abandon = onEnd === "told" ? () => reject(new Error("the process is gone")) : () => undefined;
      this.waiting.push({ owner, go, abandon });
    });
  }

  /** Counts what is being done for real, so that nobody takes a database at work for silence. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.underWay += 1;
    try {
      return await work();
    } finally {
      this.underWay -= 1;
    }
  }

  letGo(choice: number): void {
    const [chosen] = this.waiting.splice(Math.floor(choice * this.waiting.length), 1);
    chosen?.go();
  }

  abandonAll(owner: object): void {
    const gone = this.waiting.filter((one) => one.owner === owner);
    for (const one of gone) this.waiting.splice(this.waiting.indexOf(one), 1);
    for (const one of gone) one.abandon();
  }

  /** Resolves when everything that can go on without being let has done so. */
  async quiet(): Promise<void> {
    for (let still = 0; still < 2; still = this.underWay === 0 ? still + 1 : 0) await nextTurn();
  }
}
