import { spawn, type ChildProcess } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";

/** By util-linux's `script`: a shell command whose stdin, stdout and stderr are a terminal that a test types on and reads from. */
export class PseudoTerminal {
  readonly ended: Promise<{ readonly status: number | null; readonly shown: string }>;
  private readonly child: ChildProcess;
  private shown = "";
  private over = false;

  constructor(command: string, cwd: string) {
    this.child = spawn("script", ["--quiet", "--return", "--flush", "--command", command, "/dev/null"], {
      cwd,
      env: { PATH: process.env["PATH"], HOME: cwd, SHELL: "/bin/sh", TERM: "xterm" },
      stdio: ["pipe", "pipe", "inherit"],
    });
    const killWithUs = (): void => void this.child.kill("SIGKILL");
    process.once("exit", killWithUs);
    this.child.stdout?.on("data", (chunk: Buffer) => (this.shown += chunk.toString()));
    this.ended = new Promise((resolve) => {
      this.child.once("close", (status: number | null) => {
        process.removeListener("exit", killWithUs);
        this.over = true;
        resolve({ status, shown: this.shown });
      });
    });
  }

  type(text: string): void {
    this.child.stdin?.write(text);
  }

  /** Resolves when what was shown so far matches. */
  shows(pattern: RegExp): Promise<void> {
    return this.until(() => pattern.test(this.shown));
  }

  /** Rejects with what was shown if it ends before. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) {
      if (this.over) throw new Error(`it ended before: ${JSON.stringify(this.shown)}`);
      await pause(20);
    }
  }

  /** A terminal that goes away hangs up on everything that runs under it. */
  async hangUp(): Promise<void> {
    this.child.kill("SIGTERM");
    this.child.stdin?.end();
    await this.ended;
  }
}
