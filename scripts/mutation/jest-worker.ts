import { fork, type ChildProcess } from "node:child_process";
import { join } from "node:path";

/** A test file and which of its tests are to be run; all of them where it is not said. */
export interface Run {
  readonly file: string;
  readonly tests?: readonly number[];
  readonly limitMs?: number;
}

export interface Recorded {
  /** Which tests come to which mutant; -1 is what runs outside of any test. */
  readonly recorded: readonly (readonly [mutant: number, tests: readonly number[]])[];
  readonly tookMs: readonly (number | null)[];
  readonly failed: boolean;
  readonly failedTest?: string;
  readonly ms: number;
}

export interface Tried {
  readonly killedBy?: string;
  readonly test?: string;
  /** The test failed because it did not end in time. */
  readonly slow?: boolean;
}

export type Answer<A> = A | "did not answer";

/** Said before each file, and before each test that has a limit: one that never lets go of the process says nothing more. */
type Sign = { readonly begins: string } | { readonly test: number; readonly limitMs: number };

/** For the limit of a test to be noticed in the process itself, and for a file to be loaded. */
const GRACE_MS = 10_000;

const running = new Set<JestWorker>();

export function stopAllWorkers(): void {
  for (const worker of running) worker.stop();
}

/** A process with Jest in it, which is started when it is needed, and again after it had to be stopped. */
export class JestWorker {
  private child: ChildProcess | undefined;
  /** The file that it ran last. */
  lastFile: string | undefined;

  constructor(
    private readonly sandbox: string,
    private readonly files: readonly string[],
  ) {}

  record(file: string, limitMs: number): Promise<Answer<Recorded>> {
    return this.ask<Recorded>({ mutant: 0, runs: [{ file }], records: true }, limitMs);
  }

  /** Mutant 0 is none. */
  try(mutant: number, runs: readonly Run[], limitMs: number): Promise<Answer<Tried>> {
    return this.ask<Tried>({ mutant, runs }, limitMs);
  }

  stop(): void {
    this.child?.kill("SIGKILL");
    this.child = undefined;
    running.delete(this);
  }

  private async ask<A>(order: object, limitMs: number): Promise<Answer<A>> {
    running.add(this);
    const child = (this.child ??= await this.start());
    return new Promise((resolve) => {
      const endsMs = Date.now() + limitMs;
      const end = (answer: Answer<A>): void => {
        clearTimeout(timer);
        child.removeAllListeners("message").removeAllListeners("exit");
        if (answer === "did not answer") this.stop();
        resolve(answer);
      };
      let timer = setTimeout(() => end("did not answer"), limitMs);
      child.on("message", (said: Sign | A) => {
        if (typeof said !== "object" || said === null) return;
        if ("begins" in said) this.lastFile = said.begins;
        else if (!("test" in said && "limitMs" in said)) return end(said);
        const mostMs = "limitMs" in said ? said.limitMs + GRACE_MS : limitMs;
        clearTimeout(timer);
        timer = setTimeout(() => end("did not answer"), Math.min(mostMs, endsMs - Date.now()));
      });
      child.once("exit", () => end("did not answer"));
      child.send(order);
    });
  }

  private start(): Promise<ChildProcess> {
    const jest = join(this.sandbox, "node_modules/jest/bin/jest.js");
    const config = join(this.sandbox, "jest.mutation.json");
    const child = fork(jest, ["-i", "--config", config, "--runTestsByPath", ...this.files], {
      cwd: this.sandbox,
      stdio: ["ignore", "ignore", "pipe", "ipc"],
      env: { ...process.env, HOLDFAST_TEST_POSTGRES_URL: "none", HOLDFAST_TEST_REDIS_URL: "none" },
    });
    let said = "";
    child.stderr?.on("data", (text: Buffer) => (said = (said + text.toString()).slice(-4000)));
    return new Promise((resolve, reject) => {
      child.once("message", () => {
        child.removeAllListeners("exit");
        resolve(child);
      });
      child.once("exit", (code) => reject(new Error(`Jest ended with ${String(code)}: ${said}`)));
    });
  }
}
