import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { HoldfastCli } from "../support/program/holdfast-cli";

const holdfast = new HoldfastCli();

test("docs/events.md does what it says, from its first line to its last", async () => {
  const page = readFileSync(join(__dirname, "../../docs/events.md"), "utf8");
  const script = [...page.matchAll(/```sh\n(.*?)```/gs)].map(([, block]) => block).join("\n");
  const url = await holdfast.serve().url();
  const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", script], {
    env: { ...process.env, HOLDFAST_URL: url },
  });
  expect(stdout.trim().split("\n")).toEqual([
    "payment.authorized 1, payment.captured 2",
    "payment.refunded",
    "event: payment.authorized",
    "event: payment.captured",
    "event: payment.refunded",
  ]);
}, 120_000);
