import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HoldfastCli, untilEnded } from "../../../support/program/holdfast-cli";
import { freePort } from "../../../support/servers/own-process";

jest.setTimeout(60_000);
const holdfast = new HoldfastCli();
const LOCKS = ["--locks", "file:locks"];
const run = (...more: string[]) => ["run", "nightly", ...LOCKS, ...more];
const metricsFile = (name = "nightly.prom") => join(holdfast.folder, "metrics", name);
const METRICS = ["--metrics-file", "metrics/nightly.prom"];

interface Line {
  readonly event: string;
  readonly level: number;
  readonly resourceId: string;
}

/** What is no line of the log is not JSON. */
const logged = (stderr: string): Line[] =>
  stderr
    .split("\n")
    .filter((line) => line.startsWith("{"))
    .map((line) => JSON.parse(line) as Line);

async function somebodyInside(): Promise<void> {
  await holdfast.start(run("--", ...untilEnded)).said(/running/);
}

beforeEach(() => mkdirSync(join(holdfast.folder, "metrics")));

describe("--log-level", () => {
  test("--log-level makes run log its wait and its hold, as serve does", async () => {
    const { stderr } = await holdfast.run(run("--log-level", "debug", "--", "true"));
    expect(logged(stderr)).toMatchObject([
      { event: "acquired", level: 20, resourceId: "task:nightly", adapter: "file", purpose: "true" },
      { event: "released", level: 20, resourceId: "task:nightly", scope: "task" },
    ]);
  });

  test("--log-level shows each attempt of a wait, and how it ended", async () => {
    await somebodyInside();
    const { status, stderr } = await holdfast.run(
      run("--log-level", "trace", "--lock-timeout", "1", "--", "true"),
    );
    expect(status).toBe(75);
    const events = logged(stderr).map(({ event }) => event);
    expect(events[0]).toBe("wait_started");
    expect(events).toContain("retried");
    expect(events.at(-1)).toBe("timed_out");
  });

  test("--log-level comes from the environment, too, and keeps back what is below it", async () => {
    await somebodyInside();
    const { stderr } = await holdfast.run(run("--", "true"), { HOLDFAST_LOG_LEVEL: "info" });
    expect(logged(stderr).map(({ event }) => event)).toEqual(["timed_out"]);
  });

  test("--log-level loses no line to the signal that ends the wait", async () => {
    await somebodyInside();
    const waiter = holdfast.start(run("--log-level", "debug", "--lock-timeout", "60", "--", "true"));
    await waiter.said(/waiting for task:nightly/);
    const { signal, stderr } = await waiter.end("SIGINT");
    expect(signal).toBe("SIGINT");
    expect(logged(stderr).at(-1)).toMatchObject({ event: "cancelled" });
  });

  test("--log-level is the only thing that makes it log: nothing is said by default", async () => {
    await somebodyInside();
    const { stderr } = await holdfast.run(run("--", "true"));
    expect(logged(stderr)).toEqual([]);
  });
});

describe("--metrics-file", () => {
  const told = (): string[] =>
    readFileSync(metricsFile(), "utf8")
      .split("\n")
      .filter((line) => !/^#|_bucket|^$| 0$/.test(line))
      .map((line) => line.replace(/(_seconds_sum\{.*\}) .*/, "$1"))
      .map((line) =>
        line.replace(/\{(.*)\}/, (_all, labels: string) => `{${labels.split(",").sort().join(",")}}`),
      );
  const labels = 'adapter="file",scope="task",task="nightly"';

  test("--metrics-file tells of the last run what serve tells of its locks, under the name of the task", async () => {
    expect((await holdfast.run(run(...METRICS, "--", "sh", "-c", "exit 3"))).status).toBe(3);
    expect(told()).toEqual([
      `holdfast_lock_wait_seconds_sum{${labels}}`,
      `holdfast_lock_wait_seconds_count{${labels}} 1`,
      `holdfast_lock_hold_seconds_sum{${labels}}`,
      `holdfast_lock_hold_seconds_count{${labels}} 1`,
    ]);
    await somebodyInside();
    expect((await holdfast.run(run(...METRICS, "--", "true"))).status).toBe(75);
    expect(told()).toEqual([
      `holdfast_lock_contended_total{${labels}} 1`,
      `holdfast_lock_timeouts_total{${labels}} 1`,
    ]);
  });

  test("--metrics-file tells of a lock service that does not answer", async () => {
    const locks = ["--locks", `redis://127.0.0.1:${await freePort()}`];
    expect((await holdfast.run(["run", "nightly", ...locks, ...METRICS, "--", "true"])).status).toBe(69);
    expect(told()).toEqual([
      'holdfast_lock_unavailable_total{adapter="redis",scope="task",task="nightly"} 1',
    ]);
  });

  test("--metrics-file is replaced as a whole: whoever reads the old one reads it to its end", async () => {
    const old = "# of yesterday\n".repeat(1_000);
    writeFileSync(metricsFile(), old);
    const reader = openSync(metricsFile(), "r");
    try {
      await holdfast.run(run(...METRICS, "--", "true"));
      expect(readFileSync(reader, "utf8")).toBe(old);
    } finally {
      closeSync(reader);
    }
    expect(readFileSync(metricsFile(), "utf8")).not.toContain("yesterday");
    expect(readdirSync(join(holdfast.folder, "metrics"))).toEqual(["nightly.prom"]);
  });

  test("--metrics-file that cannot be written is said, and changes nothing else", async () => {
    const ended = await holdfast.run(
      run("--metrics-file", "nowhere/nightly.prom", "--", "sh", "-c", "exit 3"),
    );
    expect(ended.status).toBe(3);
    expect(ended.stderr).toMatch(/^holdfast: cannot write metrics to \/.*\/nowhere\/nightly\.prom: ENOENT/);
  });

  test("--metrics-file has the name that node exporter looks for", async () => {
    const { status, stderr } = await holdfast.run(run("--metrics-file", "nightly.txt", "--", "touch", "ran"));
    expect(status).toBe(64);
    expect(stderr).toBe("holdfast: --metrics-file must end in .prom: node exporter reads no other files");
    expect(readdirSync(holdfast.folder)).not.toContain("ran");
  });
});
