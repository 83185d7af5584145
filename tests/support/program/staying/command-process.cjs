"use strict";
/**
 * Runs commands of the program, one after the other: `node command-process.cjs <end> <the program>`, told over IPC which. Each
 * one finds its own folder, environment and arguments, and ends the program as far as it can tell; `<end>` on stdout and
 * stderr comes after all that it has written there.
 */
const { write } = require("node:fs");

const [, , end, program] = process.argv;
// Each logger is told of the exit.
process.setMaxListeners(0);
const { main } = require(program);

const SIGNALS = ["SIGINT", "SIGTERM"];
const ignore = () => undefined;

process.on("message", ({ args, cwd, env }) => {
  for (const signal of SIGNALS) process.removeListener(signal, ignore);
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  process.argv = [process.execPath, program, ...args];
  process.exit = (status) => {
    // What is logged is written asynchronously, and the rest of it when the process exits.
    process.emit("exit", status);
    for (const stream of [process.stdout, process.stderr]) {
      stream.removeAllListeners("error");
      write(stream.fd, end, () => undefined);
    }
    // A server that could not begin goes on listening for them: its process would be gone. One that is sent when the command has just ended
    // is nobody's.
    for (const signal of SIGNALS) process.removeAllListeners(signal).on(signal, ignore);
    process.send({ status });
  };
  void main();
});
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
