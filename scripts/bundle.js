// node scripts/bundle.js <folder>: adds to the built modules what is shipped as the program. `holdfast.js` starts it: a server
// from one file, `server.js`, because a thousand small ones take long to read; any other command from the few modules it needs.
const { buildSync } = require("esbuild");
const { readdirSync, readFileSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");

const folder = process.argv[2];
const root = join(__dirname, "..");

/** Loaded only where they are chosen, or with files of their own beside them (native code, pages). */
const apart = [
  "@google-cloud/storage",
  "@opentelemetry/context-async-hooks",
  "@opentelemetry/core",
  "@opentelemetry/exporter-trace-otlp-http",
  "@opentelemetry/resources",
  "@opentelemetry/sdk-trace-base",
  "@photostructure/sqlite",
  "fs-native-extensions",
  "ioredis",
  "pg",
  "stripe",
  "swagger-ui-dist",
];

/** Both do the same: a word that is taken for the command by mistake costs some milliseconds and nothing else. */
const starter = `#!/usr/bin/env node
void require(process.argv.includes("serve") ? "./server.js" : "./main.js").main();
`;

const { metafile } = buildSync({
  absWorkingDir: root,
  entryPoints: ["src/main.ts"],
  outfile: join(folder, "server.js"),
  bundle: true,
  platform: "node",
  target: "node20",
  external: apart,
  sourcemap: true,
  legalComments: "none",
  metafile: true,
  logLevel: "warning",
});
writeFileSync(join(folder, "holdfast.js"), starter, { mode: 0o755 });
writeFileSync(join(folder, "server.licenses.txt"), licenses(Object.keys(metafile.inputs)));

/** What the licences of the packages ask for that are in the file. */
function licenses(inputs) {
  const packages = new Set(
    inputs.flatMap((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? []),
  );
  return [...packages].sort().map(noticeOf).join("\n");
}

function noticeOf(place) {
  const { name, version, license } = JSON.parse(readFileSync(join(root, place, "package.json"), "utf8"));
  const file = readdirSync(join(root, place)).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file === undefined ? "" : `\n${readFileSync(join(root, place, file), "utf8").trim()}\n`;
  return `${name} ${version} (${license})\n${text}`;
}
