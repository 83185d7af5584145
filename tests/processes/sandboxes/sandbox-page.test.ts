import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { HoldfastCli } from "../../support/program/holdfast-cli";
import { size } from "../../support/test-size";

const holdfast = new HoldfastCli();

test("docs/sandboxes.md does what it says, from its first line to its last", async () => {
  const page = readFileSync(join(__dirname, "../../../docs/sandboxes.md"), "utf8");
  const script = [...page.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block).join("\n");
  // In brief, not each of its jobs: every one of their lines starts programs.
  const jobs = size(["1 2 3 4 5 6 7 8 9 10", 10] as const, ["1 2", 2] as const);
  expect(script).toContain("for job in 1 2 3 4 5 6 7 8 9 10; do");
  const url = await holdfast.serve().url();
  const { stdout } = await promisify(execFile)(
    "bash",
    ["-euo", "pipefail", "-c", script.replace("1 2 3 4 5 6 7 8 9 10", jobs[0])],
    {
      env: { ...process.env, HOLDFAST_URL: url },
    },
  );
  const lines = stdout.trim().split("\n");
  expect(lines.slice(0, jobs[1])).toEqual(
    Array.from({ length: jobs[1] }, (_, n) => `job ${n + 1}: captured`),
  );
  expect(lines.slice(jobs[1])).toEqual([
    "golden: authorized",
    expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    "payment_expired",
    "expired",
    "back to https://shop.example/back",
    "authorized",
    expect.stringMatching(/^seen in snapshot [0-9a-f-]{36}\.\d+-\d+$/),
    expect.stringMatching(/^authorize\.started .*payment\.expired/),
  ]);
}, 120_000);
