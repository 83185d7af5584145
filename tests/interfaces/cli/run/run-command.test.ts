import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LinedLockProvider } from "../../../../src/infrastructure/locking/line/lined-lock-provider";
import type { Backend, ConfiguredBackend, TaskLocks } from "../../../../src/interfaces/cli/backend";
import { runCli } from "../../../../src/interfaces/cli/cli";
import { FakeLockServer, type FakeLockBackend } from "../../../support/fakes/fake-lock-backend";

let folder: string;
let server: FakeLockServer;
let backend: FakeLockBackend;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "holdfast-run-"));
  server = new FakeLockServer();
  backend = server.backend();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The command line in this process, on locks that do what the test says. */
async function run(args: readonly string[], locks: Partial<TaskLocks> = {}) {
  const told: string[] = [];
  const taskLocks: TaskLocks = {
    provider: new LinedLockProvider(backend),
    where: "fake: (a test)",
    keptWithoutUs: false,
    inheritableFd: () => undefined,
    nameChild: async () => {},
    ...locks,
  };
  const configured = { withTaskLocks: (_task, work) => work(taskLocks) } as Partial<ConfiguredBackend>;
  const program: Backend = {
    configure: () => configured as ConfiguredBackend,
    settingFlags: [],
    version: "0.0.0",
  };
  const listeners = process.listenerCount("SIGTERM");
  const status = await runCli(["run", "nightly", ...args], program, {
    stdout: { write: (text) => told.push(text) },
    stderr: { write: (text) => told.push(text) },
  });
  expect(process.listenerCount("SIGTERM")).toBe(listeners);
  return { status, told: told.join("") };
}

const touch = () => ["--", "touch", join(folder, "ran")];

test.each(["kill", "continue"])(
  "a lock that is lost before the command starts is told as 79, and nothing runs, with --on-lost %s",
  async (onLost) => {
    const provider = new LinedLockProvider(backend);
    const lostAtOnce: TaskLocks["provider"] = {
      withLock: (id, section, options) =>
        provider.withLock(
          id,
          (hold) => {
            server.expire(id);
            return section(hold);
          },
          options,
        ),
    };
    const { status, told } = await run(["--on-lost", onLost, ...touch()], { provider: lostAtOnce });
    expect(told).toMatch(/^holdfast: the lock on task:nightly was lost/);
    expect(status).toBe(79);
    expect(readdirSync(folder)).toEqual([]);
  },
);

test("a command whose note cannot be written runs all the same, to its end and under its lock", async () => {
  const nameChild = () => Promise.reject(new Error("no space left on device"));
  const held: boolean[] = [];
  backend.beforeRelease = () => void held.push(readdirSync(folder).includes("ran"));
  const script = `sleep 0.2; touch '${join(folder, "ran")}'; exit 7`;
  const { status, told } = await run(["--", "sh", "-c", script], { nameChild });
  expect(told).toContain("holdfast: cannot record the command in its lock (no space left on device)");
  expect(status).toBe(7);
  expect(held).toEqual([true]);
});
