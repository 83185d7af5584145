import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { temporaryDirectory } from "../support/temporary-directory";
import { typescriptChild } from "../support/typescript-child";

const temporary = temporaryDirectory();
const LOCK_TIMEOUT = 75;

describe("a SQLite database that a server has open", () => {
  const { file, args } = typescriptChild(join("..", "..", "src", "main.ts"));
  const store = () => ["--store", `sqlite:${join(temporary.path, "holdfast.db")}`];
  const run = (command: string) =>
    spawnSync(file, [...args, command, ...store()], {
      cwd: temporary.path,
      encoding: "utf8",
      timeout: 30_000,
    });
  let server: ChildProcess | undefined;

  afterEach(async () => {
    if (server?.exitCode !== null || server.signalCode !== null) return;
    server.kill("SIGKILL");
    await once(server, "exit");
  });

  it("is refused to everybody else with the number of that server, and free again when that was killed", async () => {
    server = spawn(file, [...args, "serve", "--port", "0", ...store()], {
      cwd: temporary.path,
      stdio: ["ignore", "ignore", "pipe"],
    });
    for await (const line of createInterface(server.stderr!)) if (line.includes("listening")) break;

    for (const command of ["serve", "reconcile", "expire"]) {
      const { status, stderr } = run(command);
      expect(stderr).toMatch(new RegExp(`^holdfast: .*held by pid ${server.pid} .*\\(serve\\)`));
      expect(status).toBe(LOCK_TIMEOUT);
    }
    server.kill("SIGKILL");
    await once(server, "exit");
    expect(run("reconcile").status).toBe(0);
  }, 120_000);
});
