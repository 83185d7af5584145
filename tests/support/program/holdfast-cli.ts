import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { size } from "../test-size";
import { startedProgram } from "./built-program";
import { environmentOf, HoldfastProcess } from "./holdfast-process";
import type { Ended, RunningProgram } from "./running-program";
import { StayingProcesses } from "./staying/staying-processes";

/**
 * A command for `run`: says `running <its pid>` and stays until a signal ends it, or until its wrapper is gone, so that
 * no failed test leaves it behind.
 */
export const untilEnded: readonly string[] = [
  "sh",
  "-c",
  'echo "running $$" >&2; while kill -0 $PPID 2>/dev/null; do sleep 0.1; done',
];

interface HowToRun {
  /** For tests of what a process is: its memory, its modules, what it keeps for good. */
  readonly serversAlone?: boolean;
}

/** Each test's own folder, in which it runs the built program; nothing of it runs on after the test. */
export class HoldfastCli {
  private main = "";
  private readonly running: RunningProgram[] = [];
  folder = "";

  constructor(private readonly how: HowToRun = {}) {
    beforeAll(async () => {
      this.main = await startedProgram();
    }, 120_000);
    beforeEach(() => {
      this.folder = mkdtempSync(join(tmpdir(), "holdfast-cli-"));
    });
    afterEach(async () => {
      await Promise.all(this.running.splice(0).map((one) => one.stop()));
      rmSync(this.folder, { recursive: true, force: true });
    });
  }

  /**
   * A process of its own for what is given something to read, and at full size; otherwise one that has run others before, and
   * is sent signals as any.
   */
  start(args: readonly string[], env: NodeJS.ProcessEnv = {}, stdin?: string): RunningProgram {
    return this.begin(args, env, stdin, this.how.serversAlone === true && args.includes("serve"));
  }

  /** What the commands have left in the folder. */
  files(): string[] {
    return readdirSync(this.folder);
  }

  /** Runs a command, or a server that is refused, to its end. For what is ended by somebody else's code, use `start`. */
  run(args: readonly string[], env: NodeJS.ProcessEnv = {}, stdin?: string): Promise<Ended> {
    return this.begin(args, env, stdin, false).ended;
  }

  /** A command line for a shell. */
  shellWords(args: readonly string[]): string {
    const quoted = [process.execPath, this.main, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`);
    return quoted.join(" ");
  }

  /** A server on a free port that neither waits on the way out nor writes a line for each request. */
  serve(...more: string[]): RunningProgram {
    return this.start(["serve", "--port", "0", "--shutdown-delay", "0", ...more]);
  }

  private begin(
    args: readonly string[],
    env: NodeJS.ProcessEnv,
    stdin: string | undefined,
    isAlone: boolean,
  ): RunningProgram {
    const { main, folder: cwd } = this;
    // What exports traces goes on with it when its command is over.
    const traces = args.includes("--trace") || Object.keys(env).some((name) => name.startsWith("OTEL_"));
    const started = size(true, isAlone || traces || stdin !== undefined)
      ? new HoldfastProcess([main, ...args], { cwd, env, ...(stdin === undefined ? {} : { stdin }) })
      : new StayingProcesses(main).start({
          args,
          cwd,
          env: environmentOf(cwd, env),
        });
    this.running.push(started);
    return started;
  }
}

/** Asks again until the answer is the one that is waited for. */
export async function eventually<T>(ask: () => Promise<T>, isIt: (answer: T) => boolean): Promise<T> {
  for (let tries = 0; tries < 200; tries += 1) {
    const answer = await ask();
    if (isIt(answer)) return answer;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("it never came to this");
}
