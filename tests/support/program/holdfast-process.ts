import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";

export interface Ended {
  /** Null if a signal ended it. */
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface StartOptions {
  /** The working folder: `holdfast.toml` and `./data` are looked for there. */
  readonly cwd: string;
  /** Nothing else of this process's environment reaches the child but what it takes to run at all. */
  readonly env?: NodeJS.ProcessEnv;
  /** What stdin brings before it ends; without it, stdin is empty. */
  readonly stdin?: string;
}

/** The program in a process of its own. Signals go to it alone, by its id; it does not outlive this process. */
export class HoldfastProcess {
  readonly ended: Promise<Ended>;
  private readonly child: ChildProcess;
  /** What it has said on stderr so far. */
  readonly lines: string[] = [];
  private stdout = "";
  private readonly listeners = new Set<() => void>();
  private over = false;

  /** `args` begin with the script, as for `node`. */
  constructor(args: readonly string[], { cwd, env, stdin: input }: StartOptions) {
    this.child = spawn(process.execPath, args, {
      cwd,
      env: { PATH: process.env["PATH"], HOME: cwd, ...env },
      // Without a terminal, even if the tests were started on one: there, a signal may come from it.
      detached: true,
      stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    });
    const { stdin, stdout, stderr } = this.child;
    stdin?.end(input);
    if (stdout === null || stderr === null) throw new Error("pipes were asked for");
    stdout.on("data", (chunk: Buffer) => (this.stdout += chunk.toString()));
    createInterface({ input: stderr }).on("line", (line) => {
      this.lines.push(line);
      for (const listener of this.listeners) listener();
    });
    const killWithUs = (): void => void this.child.kill("SIGKILL");
    process.once("exit", killWithUs);
    this.ended = new Promise((resolve) => {
      this.child.once("close", (status: number | null, signal: NodeJS.Signals | null) => {
        process.removeListener("exit", killWithUs);
        this.over = true;
        resolve({ status, signal, stdout: this.stdout, stderr: this.lines.join("\n") });
        for (const listener of this.listeners) listener();
      });
    });
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
    this.child.kill(signal);
  }

  /** Resolves when it has ended. */
  async end(signal: NodeJS.Signals): Promise<Ended> {
    this.signal(signal);
    return this.ended;
  }
}
