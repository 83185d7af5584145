import { GcsStandIn } from "../../../support/gcs-stand-in/gcs-stand-in";
import { HoldfastCli } from "../../../support/program/holdfast-cli";
import { describeWithPostgres, describeWithRedis } from "../../../support/servers/servers";

jest.setTimeout(120_000);
const holdfast = new HoldfastCli();

/** Of this run alone: some of the servers are shared. */
const TASK = `mail-${process.pid}`;
const run = (locks: string, ...more: string[]) => ["run", TASK, "--locks", locks, ...more];
/** What a start of the program may take here, which is no part of what is measured. */
const isHeld = async (locks: string, env?: NodeJS.ProcessEnv) =>
  (await holdfast.run(run(locks, "--", "true"), env)).status === 75;

describe("holdfast run --at-least-for", () => {
  test.each(["", "x", "10d", "-1", "1.5m", "169h"])(
    'the duration "%s" is refused, and nothing runs',
    async (duration) => {
      const refused = await holdfast.run(
        run("file:locks", `--at-least-for=${duration}`, "--", "echo", "ran"),
      );
      expect(refused).toMatchObject({ status: 64, stdout: "" });
      expect(refused.stderr).toContain("--at-least-for");
    },
  );

  test("a lock file is kept by the wrapper, which stays, says so, and passes the status on", async () => {
    const beganMs = performance.now();
    const first = holdfast.start(run("file:locks", "--at-least-for", "8s", "--", "sh", "-c", "exit 3"));
    await first.said(/^holdfast: keeping the lock for another \d s \(--at-least-for\)$/);
    expect(await isHeld("file:locks")).toBe(true);
    expect((await first.ended).status).toBe(3);
    expect(performance.now() - beganMs).toBeGreaterThan(8_000);
    expect(await isHeld("file:locks")).toBe(false);
  });

  test("a command that takes longer than that is not followed by any wait", async () => {
    const ended = await holdfast.run(run("file:locks", "--at-least-for", "1", "--", "sleep", "1.2"));
    expect(ended).toMatchObject({ status: 0, stderr: "" });
  });

  test("a signal gives the lock back early, and the command's status stands", async () => {
    const first = holdfast.start(run("file:locks", "--at-least-for", "10m", "--", "sh", "-c", "exit 3"));
    await first.said(/keeping the lock/);
    const ended = await first.end("SIGTERM");
    expect(ended).toMatchObject({ status: 3, signal: null });
    expect(ended.stderr).toMatch(/^holdfast: SIGTERM gave the lock back \d+ s early$/m);
    expect(await isHeld("file:locks")).toBe(false);
  });

  describeWithPostgres("with a PostgreSQL", (server) => {
    test("a lock in PostgreSQL is kept by the wrapper, too", async () => {
      const locks = server.url;
      const first = holdfast.start(run(locks, "--at-least-for", "10m", "--", "true"));
      await first.said(/keeping the lock for another/);
      expect(await isHeld(locks)).toBe(true);
      expect((await first.end("SIGINT")).stderr).toMatch(/SIGINT gave the lock back/);
      expect(await isHeld(locks)).toBe(false);
    });
  });

  describeWithRedis("with a Redis", (redis) => {
    test("a lock in Redis is kept by its record, and the program ends with its command", async () => {
      const beganMs = performance.now();
      const first = await holdfast.run(run(redis.url, "--at-least-for", "8s", "--", "true"));
      expect(first).toMatchObject({ status: 0, stderr: "" });
      expect(performance.now() - beganMs).toBeLessThan(8_000);
      expect(await isHeld(redis.url)).toBe(true);
      const next = await holdfast.run(run(redis.url, "--lock-timeout", "30", "--", "true"));
      expect(next.status).toBe(0);
      expect(performance.now() - beganMs).toBeGreaterThan(8_000);
    });
  });

  test("a lock in a bucket is kept by its record, and the program ends with its command", async () => {
    const standIn = await GcsStandIn.start({ buckets: ["locks"] });
    const env = { STORAGE_EMULATOR_HOST: standIn.url };
    try {
      const first = await holdfast.run(run("gs://locks/jobs", "--at-least-for", "10m", "--", "true"), env);
      expect(first).toMatchObject({ status: 0, stderr: "" });
      expect(await isHeld("gs://locks/jobs", env)).toBe(true);
    } finally {
      await standIn.close();
    }
  });
});
