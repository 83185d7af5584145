import { execFile, execFileSync } from "node:child_process";
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { OwnProcess, freePort } from "./own-process";
import type { OwnServer } from "./own-redis";
import { postgresAnswers } from "./probes";
import { findProgram } from "./server-availability";

/** PostgreSQL refuses to run as root; then its files and processes belong to the system's `postgres` user. */
interface RunAs {
  readonly uid?: number;
  readonly gid?: number;
}

/** A PostgreSQL of the test's own, on loopback and a free port, with its cluster in a temporary folder. `settings` as in its file. */
export async function startOwnPostgres(settings: Readonly<Record<string, string>> = {}): Promise<OwnServer> {
  const initdb = findProgram("initdb");
  const program = findProgram("postgres");
  if (initdb === undefined || program === undefined) throw new Error("PostgreSQL is not installed");
  const runAs = unprivileged();
  const folder = mkdtempSync(join(tmpdir(), "holdfast-postgres-"));
  if (runAs.uid !== undefined && runAs.gid !== undefined) chownSync(folder, runAs.uid, runAs.gid);
  const data = join(folder, "data");
  const cluster = ["--pgdata", data, "--username", "holdfast", "--auth", "trust", "--encoding", "UTF8"];
  await promisify(execFile)(initdb, [...cluster, "--locale", "C", "--no-sync"], { ...runAs, cwd: folder });

  const port = await freePort();
  const url = `postgres://holdfast@127.0.0.1:${port}/postgres`;
  const given = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const args = ["-D", data, "-h", "127.0.0.1", "-p", `${port}`, "-k", folder, ...given];
  const start = async (): Promise<OwnProcess> => {
    const server = OwnProcess.start(program, args, { ...runAs, cwd: folder });
    await server.until(() => postgresAnswers(url));
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
      await server.end("SIGINT"); // fast shutdown: does not wait for clients to leave
      server = await start();
    },
    stop: async () => {
      await server.end("SIGINT");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export function unprivileged(): RunAs {
  if (process.getuid?.() !== 0) return {};
  const idOf = (flag: string): number => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  return { uid: idOf("-u"), gid: idOf("-g") };
}
