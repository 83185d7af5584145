"use strict";
/**
 * Runs scripts, one after the other: `node script-process.cjs <end>`, told over IPC which. Each one finds its own environment,
 * and one that requires, nothing that an earlier one has required; it is over when nothing is left that would keep a process of
 * its own.
 */
const { pathToFileURL } = require("node:url");

const [, , end] = process.argv;
const found = { ...process.env };
let scripts = 0;

process.on("message", ({ file, env }) => {
  for (const name of Object.keys(process.env)) if (!(name in found)) delete process.env[name];
  Object.assign(process.env, found, env);
  process.exitCode = undefined;
  process.channel.unref();
  if (file.endsWith(".cjs")) {
    for (const path of Object.keys(require.cache)) delete require.cache[path];
    return require(file);
  }
  // A script may have been written anew.
  scripts += 1;
  void import(`${pathToFileURL(file).href}?${scripts}`);
});
process.on("beforeExit", () => {
  process.channel.ref();
  for (const stream of [process.stdout, process.stderr]) stream.write(end);
  process.send({ status: process.exitCode ?? 0 });
});
process.on("disconnect", () => process.kill(process.pid, "SIGKILL"));
