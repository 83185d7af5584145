import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OwnProcess, freePort } from "./own-process";
import { redisAnswers } from "./probes";
import { findProgram } from "./server-availability";

export interface OwnServer {
  readonly url: string;
  readonly pid: number;
  /** Nothing answers from here on, connections stay open. */
  pause(): void;
  continue(): void;
  /** Ends at once, as in a power cut. `restart` brings it back. */
  kill(): Promise<void>;
  restart(): Promise<void>;
  /** Ends it for good and removes its files. */
  stop(): Promise<void>;
}

/** A Redis of the test's own, on loopback and a free port. It keeps nothing over a restart unless `durable`. */
export async function startOwnRedis(options: { durable?: boolean } = {}): Promise<OwnServer> {
  const program = findProgram("redis-server");
  if (program === undefined) throw new Error("redis-server is not installed");
  const folder = mkdtempSync(join(tmpdir(), "holdfast-redis-"));
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  const durability = options.durable === true ? ["yes", "--appendfsync", "always"] : ["no"];
  const args = ["--bind", "127.0.0.1", "--port", `${port}`, "--dir", folder, "--save", ""];

  const start = async (): Promise<OwnProcess> => {
    const server = OwnProcess.start(program, [...args, "--appendonly", ...durability], { cwd: folder });
    await server.until(() => redisAnswers(url));
    return server;
  };

  let server = await start();
  return {
    url,
    get pid() {
      return server.pid;
    },
    pause: () => server.pause(),
    continue: () => server.continue(),
    kill: () => server.end("SIGKILL"),
    restart: async () => {
      await server.end("SIGTERM");
      server = await start();
    },
    stop: async () => {
      await server.end("SIGTERM");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
