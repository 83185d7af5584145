#!/usr/bin/env node
import { cliBackend } from "./infrastructure/composition/cli-backend";
import { version } from "./infrastructure/composition/version";
import { runCli } from "./interfaces/cli/cli";

/** Where the program begins. Everything else can be imported without effect. */
export async function main(): Promise<void> {
  // A reader of our output may stop before its end (`| head`): that is no failure of ours.
  for (const stream of [process.stdout, process.stderr]) {
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
    });
  }
  const seen = { interrupt: false };
  const interrupted = (): void => void (seen.interrupt = true);
  const backend = cliBackend(process.env, version());
  const status = await runCli(process.argv.slice(2), backend, process, interrupted);
  for (const stream of [process.stdout, process.stderr])
    await new Promise<void>((resolve) => void stream.write("", () => resolve()));
  if (seen.interrupt) process.kill(process.pid, "SIGINT");
  // Whatever is still open (a connection to a service that does not answer) keeps no caller waiting.
  process.exit(status);
}

if (require.main === module) void main();
