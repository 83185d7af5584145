"use strict";
const { transformSync } = require("esbuild");

/** As `ts-jest` without types, in a tenth of the time. */
module.exports = {
  process(source, path) {
    const { code } = transformSync(source, {
      loader: "ts",
      format: "cjs",
      target: "node20",
      sourcefile: path,
      tsconfigRaw: { compilerOptions: { target: "es2023", useDefineForClassFields: true } },
    });
    return { code };
  },
};
