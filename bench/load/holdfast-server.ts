import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";

/** The program in its modules, of which one can be exchanged. */
export const HOLDFAST = join(__dirname, "../../../../dist/main.js");
/** The program as it is shipped: the same, and a server in one file. */
export const SHIPPED = join(__dirname, "../../../../dist/holdfast.js");

const LOOK_EVERY_MS = 2;
const START_MS = 60_000;

export interface ServerUnderLoad {
  readonly port: number;
  /** CPU time so far, in microseconds. */
  cpuMicroseconds(): Promise<number>;
  stop(): Promise<void>;
  /** As `kill -9` does. */
  kill(): Promise<void>;
}

interface Started {
  readonly environment?: Readonly<Record<string, string>>;
  readonly program?: string;
}

/** `holdfast serve` on a SQLite file, with everything on; its log goes to a file, as a service's does. */
export async function startHoldfast(
  file: string,
  args: readonly string[] = [],
  flags: readonly string[] = [],
  { environment = {}, program = HOLDFAST }: Started = {},
): Promise<ServerUnderLoad> {
  const log = openSync(`${file}.log`, "w");
  const child = spawn(
    process.execPath,
    [
      ...[...args, program, "serve", "--store", `sqlite:${file}`, "--port", "0", "--shutdown-delay", "0"],
      // Beside the store, so that two servers do not share it.
      ...["--snapshots", `file:${file}.snapshots`],
      ...flags,
    ],
    { stdio: ["ignore", "ignore", log], env: { ...process.env, ...environment } },
  );
  closeSync(log);
  const ended = once(child, "exit");
  const endWithUs = (): void => void child.kill("SIGKILL");
  process.once("exit", endWithUs);
  const url = await listeningAt(`${file}.log`, () => child.exitCode !== null);
  return {
    port: Number(url.port),
    cpuMicroseconds: async () => {
      const text = await (await fetch(new URL("/metrics", url))).text();
      return Number(/^process_cpu_seconds_total (\S+)$/m.exec(text)?.[1]) * 1e6;
    },
    stop: async () => {
      child.kill("SIGTERM");
      await ended;
      process.off("exit", endWithUs);
    },
    kill: async () => {
      child.kill("SIGKILL");
      await ended;
      process.off("exit", endWithUs);
    },
  };
}

/** Makes a key, so that the server asks for one with each request. */
export async function createApiKey(file: string, program = HOLDFAST): Promise<string> {
  const args = [program, "keys", "create", "--merchant", "default", "--store", `sqlite:${file}`];
  return (await promisify(execFile)(process.execPath, args)).stdout.trim();
}

async function listeningAt(log: string, hasEnded: () => boolean): Promise<URL> {
  for (const begun = performance.now(); performance.now() - begun < START_MS; await pause(LOOK_EVERY_MS)) {
    const url = /listening on (http:\S+)/.exec(readFileSync(log, "utf8"))?.[1];
    if (url !== undefined) return new URL(url);
    if (hasEnded()) break;
  }
  throw new Error(`the server did not start:\n${readFileSync(log, "utf8")}`);
}
