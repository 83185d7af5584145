"use strict";
/** Runs the program that `joined-program.ts` puts beside it, with what Node has compiled of it before. */
const { readFileSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");
const { Script } = require("node:vm");

const file = join(__dirname, "program.js");
const compiled = join(__dirname, "program.compiled");
const isToBeKept = process.env["HOLDFAST_TEST_KEEP_COMPILED"] === "1";

// Another version of Node refuses what this one has compiled, and compiles the program itself.
const script = new Script(readFileSync(file, "utf8"), {
  filename: file,
  ...(isToBeKept ? {} : { cachedData: readFileSync(compiled) }),
});
if (isToBeKept) process.on("exit", () => writeFileSync(compiled, script.createCachedData()));
const importModule = (specifier) => import(specifier);
script.runInThisContext()(exports, require, module, file, __dirname, importModule);
