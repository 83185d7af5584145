#!/usr/bin/env node
import { cliBackend } from "./infrastructure/composition/cli-backend";
import { version } from "./infrastructure/composition/version";
import { runCli } from "./interfaces/cli/cli";

/** Where the program begins. Everything else can be imported without effect. */
async function main(): Promise<void> {
  // Whoever reads our output may stop before its end (`| head`): that is no failure of ours.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
    });
  }
  process.exitCode = await runCli(process.argv.slice(2), cliBackend(process.env, version()), process);
}

if (require.main === module) void main();
