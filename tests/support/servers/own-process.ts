import { spawn, type ChildProcess, type SpawnOptions } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

/** A server that a test started itself. Every signal goes to its own processes, by id, and to nobody else's. */
export class OwnProcess {
  private constructor(
    private readonly child: ChildProcess,
    private readonly ended: Promise<void>,
    private readonly output: () => string,
  ) {}

  static start(program: string, args: readonly string[], options: SpawnOptions): OwnProcess {
    const child = spawn(program, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    const collect = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-4_000);
    };
    child.stdout?.on("data", collect);
    child.stderr?.on("data", collect);
    const killWithUs = (): void => void child.kill("SIGKILL");
    process.once("exit", killWithUs);
    const ended = new Promise<void>((resolve) => {
      child.once("error", (error) => {
        output += error.message;
        resolve();
      });
      child.once("exit", () => resolve());
    }).finally(() => process.removeListener("exit", killWithUs));
    return new OwnProcess(child, ended, () => output);
  }

  get pid(): number {
    if (this.child.pid === undefined) throw new Error(`did not start: ${this.output()}`);
    return this.child.pid;
  }

  get running(): boolean {
    return this.child.pid !== undefined && this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Waits until `ready` says so; fails with the server's own words if it ends first, or after 30 s. */
  async until(ready: () => Promise<boolean>): Promise<void> {
    for (let tries = 0; tries < 600; tries++) {
      if (!this.running) throw new Error(`the server ended while starting: ${this.output()}`);
      if (await ready()) return;
      await pause(50);
    }
    await this.end("SIGKILL");
    throw new Error(`the server did not answer within 30 s: ${this.output()}`);
  }

  /** Stops it in its tracks: sockets stay open, nothing answers. The parent first, so that no child is added. */
  pause(): void {
    send(this.pid, "SIGSTOP");
    for (const pid of descendantsOf(this.pid)) send(pid, "SIGSTOP");
  }

  continue(): void {
    if (this.running) for (const pid of [this.pid, ...descendantsOf(this.pid)]) send(pid, "SIGCONT");
  }

  /** Ends it and waits until it has ended. A paused process is woken first, or only SIGKILL would reach it. */
  async end(signal: NodeJS.Signals): Promise<void> {
    if (this.running) {
      // Orphans of a killed PostgreSQL keep its shared memory for a moment, and a restart would refuse to begin.
      const orphans = signal === "SIGKILL" ? descendantsOf(this.pid) : [];
      send(this.pid, signal);
      for (const pid of orphans) send(pid, signal);
      this.continue();
    }
    await this.ended;
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error; // it ended by itself: nothing to signal
  }
}

/** A port on loopback that nobody listened on a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** From /proc, since PostgreSQL puts each backend into a session of its own: its process group is not enough. */
function descendantsOf(pid: number): number[] {
  const children = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => parentOf(name) === pid)
    .map(Number);
  return children.flatMap((child) => [child, ...descendantsOf(child)]);
}

function parentOf(pid: string): number | undefined {
  try {
    // The name before the state may hold spaces and brackets; the parent is the second field after its last bracket.
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return undefined; // it ended while we were looking
  }
}
