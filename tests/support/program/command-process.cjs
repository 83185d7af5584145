"use strict";
/**
 * Runs commands of the program, one after the other: `node command-process.cjs <the program>`, told over IPC which. Each
 * one finds its own folder, environment and streams, and ends the program as far as it can tell.
 */
const { main } = require(process.argv[2]);

process.on("message", ({ args, cwd, env }) => {
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
  process.argv = [process.execPath, process.argv[1], ...args];
  const said = { stdout: collect(process.stdout), stderr: collect(process.stderr) };
  process.exit = (status) => {
    process.send({ status, stdout: said.stdout.join(""), stderr: said.stderr.join("") });
  };
  void main();
});
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));

function collect(stream) {
  const texts = [];
  stream.removeAllListeners("error");
  stream.write = (text, told) => {
    texts.push(text.toString());
    if (told !== undefined) process.nextTick(told);
    return true;
  };
  return texts;
}
