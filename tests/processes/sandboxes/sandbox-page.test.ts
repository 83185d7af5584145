import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { HoldfastCli } from "../../support/program/holdfast-cli";

const holdfast = new HoldfastCli();

test("docs/sandboxes.md does what it says, from its first line to its last", async () => {
  const page = readFileSync(join(__dirname, "../../../docs/sandboxes.md"), "utf8");
  const script = [...page.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block).join("\n");
  const url = await holdfast.serve().url();
  const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", script], {
    env: { ...process.env, HOLDFAST_URL: url },
  });
  const lines = stdout.trim().split("\n");
  expect(lines.slice(0, 10)).toEqual(Array.from({ length: 10 }, (_, n) => `job ${n + 1}: captured`));
  expect(lines.slice(10)).toEqual([
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
