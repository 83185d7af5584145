import { execFile } from "node:child_process";
import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { OwnProcess, freePort } from "./own-process";
import { unprivileged } from "./own-postgres";
import { postgresAnswers } from "./probes";
import { findProgram } from "./server-availability";

export interface Standby {
  readonly url: string;
  /** From now on it takes writes. */
  promote(): Promise<void>;
  stop(): Promise<void>;
}

/** A hot standby of that server, which follows it and answers reads alone. */
export async function startStandby(primary: string): Promise<Standby> {
  const program = findProgram("postgres");
  if (program === undefined) throw new Error("PostgreSQL is not installed");
  const runAs = unprivileged();
  const folder = mkdtempSync(join(tmpdir(), "holdfast-standby-"));
  if (runAs.uid !== undefined && runAs.gid !== undefined) chownSync(folder, runAs.uid, runAs.gid);
  const data = join(folder, "data");
  const run = (name: string, ...args: string[]) =>
    promisify(execFile)(join(dirname(program), name), args, { ...runAs, cwd: folder });
  const options = ["--pgdata", data, "--write-recovery-conf", "--wal-method=stream", "--checkpoint=fast"];
  await run("pg_basebackup", ...options, "--no-sync", "--dbname", primary);
  const port = await freePort();
  const args = ["-D", data, "-h", "127.0.0.1", "-p", `${port}`, "-k", folder];
  const server = OwnProcess.start(program, args, { ...runAs, cwd: folder });
  const url = `postgres://holdfast@127.0.0.1:${port}/postgres`;
  await server.until(() => postgresAnswers(url));
  return {
    url,
    promote: async () => {
      await run("pg_ctl", "promote", "--wait", "--pgdata", data);
    },
    stop: async () => {
      await server.end("SIGINT");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
