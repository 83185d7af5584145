// How long the program takes to be there, beside an engine that does nothing.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { compare, inMilliseconds, sideBySide } from "../measuring/side-by-side";
import type { Bench } from "../measuring/suite";
import { SHIPPED, startHoldfast } from "../load/holdfast-server";

const SUITE = "start";

export async function start(bench: Bench): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-start-"));
  try {
    const measured = await sideBySide(bench.rounds(21), {
      node: () => untilExit(["-e", "0"]),
      help: () => untilExit([SHIPPED, "--help"]),
      serve: async () => {
        const begun = performance.now();
        const server = await startHoldfast(join(folder, "start.db"), [], [], { program: SHIPPED });
        const readyMs = performance.now() - begun;
        await server.stop();
        return readyMs;
      },
    });
    const row = { suite: SUITE, against: "`node -e 0`", theirs: measured.node, show: inMilliseconds };
    bench.report(compare({ ...row, work: "`holdfast --help`", atMost: 3, ours: measured.help }));
    bench.report(
      compare({ ...row, work: "`holdfast serve`, until it listens", atMost: 3.5, ours: measured.serve }),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function untilExit(args: readonly string[]): Promise<number> {
  const begun = performance.now();
  const child = spawn(process.execPath, args, { stdio: "ignore" });
  await once(child, "exit");
  return performance.now() - begun;
}
