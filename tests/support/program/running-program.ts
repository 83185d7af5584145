import type { ChildProcess } from "node:child_process";

export interface Ended {
  /** Null if a signal ended it. */
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The program while it runs, as whoever has started it sees it. Signals go to its process alone, by its id. */
export abstract class RunningProgram {
  readonly ended: Promise<Ended>;
  /** What it has said on stderr so far. */
  readonly lines: string[] = [];
  private stdout = "";
  /** Of a line on stderr. */
  private beginning = "";
  private readonly listeners = new Set<() => void>();
  private over = false;
  private resolve: (ended: Ended) => void = () => undefined;

  protected constructor(private readonly child: ChildProcess) {
    this.ended = new Promise((resolve) => (this.resolve = resolve));
  }

  get pid(): number {
    if (this.child.pid === undefined) throw new Error("it did not start");
    return this.child.pid;
  }

  /** What it has printed so far. */
  get printed(): string {
    return this.stdout;
  }

  /** Where it listens. Rejects with its own words if it ends before. */
  async url(): Promise<string> {
    return (await this.said(/listening on (http:\S+)/))[1]!;
  }

  /** Resolves when a line on stderr matches. Rejects with all of them if it ends before. */
  said(pattern: RegExp): Promise<RegExpExecArray> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const match = this.lines.map((line) => pattern.exec(line)).find((found) => found !== null);
        if (match === undefined && !this.over) return;
        this.listeners.delete(look);
        if (match) resolve(match);
        else reject(new Error(`it ended without saying ${pattern}:\n${this.lines.join("\n")}`));
      };
      this.listeners.add(look);
      look();
    });
  }

  signal(signal: NodeJS.Signals): void {
    if (!this.over) this.child.kill(signal);
  }

  /** Resolves when it has ended. */
  async end(signal: NodeJS.Signals): Promise<Ended> {
    this.signal(signal);
    return this.ended;
  }

  /** When a test is over. */
  stop(): Promise<Ended> {
    return this.end("SIGKILL");
  }

  protected prints(text: string): void {
    this.stdout += text;
  }

  protected says(text: string): void {
    const [first = "", ...more] = text.split("\n");
    this.beginning += first;
    for (const next of more) {
      this.lines.push(this.beginning);
      this.beginning = next;
    }
    this.tell();
  }

  protected ends(status: number | null, signal: NodeJS.Signals | null): void {
    if (this.beginning !== "") this.says("\n");
    this.over = true;
    this.resolve({ status, signal, stdout: this.stdout, stderr: this.lines.join("\n") });
    this.tell();
  }

  private tell(): void {
    for (const listener of this.listeners) listener();
  }
}
