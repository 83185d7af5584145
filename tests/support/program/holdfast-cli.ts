import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { size } from "../test-size";
import { startedProgram } from "./built-program";
import { CommandProcesses } from "./command-processes";
import { HoldfastProcess, type Ended } from "./holdfast-process";

/**
 * A command for `run`: says `running <its pid>` and stays until a signal ends it, or until its wrapper is gone, so that
 * no failed test leaves it behind.
 */
export const untilEnded: readonly string[] = [
  "sh",
  "-c",
  'echo "running $$" >&2; while kill -0 $PPID 2>/dev/null; do sleep 0.1; done',
];

/** Each test's own folder, in which it runs the built program; whatever still runs after the test is killed. */
export class HoldfastCli {
  private main = "";
  private readonly running: HoldfastProcess[] = [];
  private readonly commands = new CommandProcesses();
  folder = "";

  constructor() {
    beforeAll(async () => {
      this.main = await startedProgram();
    }, 120_000);
    beforeEach(() => {
      this.folder = mkdtempSync(join(tmpdir(), "holdfast-cli-"));
    });
    afterEach(async () => {
      await Promise.all(this.running.splice(0).map((one) => one.end("SIGKILL")));
      rmSync(this.folder, { recursive: true, force: true });
    });
    afterAll(() => this.commands.end());
  }

  start(args: readonly string[], env: NodeJS.ProcessEnv = {}, stdin?: string): HoldfastProcess {
    const started = new HoldfastProcess([this.main, ...args], {
      cwd: this.folder,
      env,
      ...(stdin === undefined ? {} : { stdin }),
    });
    this.running.push(started);
    return started;
  }

  /** What the commands have left in the folder. */
  files(): string[] {
    return readdirSync(this.folder);
  }

  /**
   * Runs a command to its end: at full size, and if it is given something to read, in a process of its own; otherwise in one
   * that has run others before. What is about signals, or starts processes, uses `start`.
   */
  run(args: readonly string[], env: NodeJS.ProcessEnv = {}, stdin?: string): Promise<Ended> {
    const isShared = size(false, stdin === undefined && !startsOthers(args));
    if (!isShared) return this.start(args, env, stdin).ended;
    return this.commands.run(this.main, args, { cwd: this.folder, env });
  }

  /** A command line for a shell. */
  shellWords(args: readonly string[]): string {
    const quoted = [process.execPath, this.main, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`);
    return quoted.join(" ");
  }

  /** A server on a free port that neither waits on the way out nor writes a line for each request. */
  serve(...more: string[]): HoldfastProcess {
    return this.start(["serve", "--port", "0", "--shutdown-delay", "0", ...more]);
  }
}

/** What serves and what runs somebody's command has signals and processes to do with. */
function startsOthers(args: readonly string[]): boolean {
  return args.includes("run") || args.includes("serve");
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
