import { writeSync } from "node:fs";
import { exitStatus } from "../../../interfaces/cli/exit-status";
import { Output } from "../../../interfaces/cli/output";

const STDERR = 2;

/**
 * Code that is not ours may end the process while it is waited for, and with a status of its own: an operator would be left
 * with a program that is not there and says nothing. Until `work` is done, such an end is told, and is a failure.
 */
export async function toldIfItExits<T>(
  failure: (status: number) => Error,
  work: () => Promise<T>,
): Promise<T> {
  const onExit = (status: number): void => {
    process.exitCode = exitStatus.badConfiguration;
    // Nothing that is not written by now will be.
    const stderr = { write: (text: string) => writeSync(STDERR, text) };
    const isJson = process.argv.includes("--json");
    new Output({ stdout: stderr, stderr }, { json: isJson, quiet: false }).failure(failure(status));
  };
  process.once("exit", onExit);
  try {
    return await work();
  } finally {
    process.off("exit", onExit);
  }
}
