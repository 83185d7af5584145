// npm run executable: the program as one file, build/holdfast, which needs no Node on its machine. Made by Node's own support
// for single executables; where this Node is older than that support, one from the registry makes it, and is its runtime.
const { build } = require("esbuild");
const { execFileSync } = require("node:child_process");
const { mkdirSync, readFileSync, rmSync, writeFileSync } = require("node:fs");
const { join } = require("node:path");

const root = join(__dirname, "..");
const folder = join(root, "build");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
/** Since 25.5 Node builds executables by itself. */
const BUILDER = "26.10.0";
const LOCKS = "fs-native-extensions";

/** What is loaded by name when it is chosen. Everything else the bundler finds. */
const chosen = ["pg", "ioredis", "stripe", LOCKS];
const entry = `
  const modules = require("node:module");
  const { createRequire } = modules;
  const bundled = { ${chosen.map((name) => `"${name}": () => require("${name}")`).join(", ")} };
  modules.createRequire = (file) => {
    const load = createRequire(file);
    return Object.assign((name) => (Object.hasOwn(bundled, name) ? bundled[name]() : load(name)), load);
  };
  // Being what was started, it starts itself.
  require("./src/main.ts");
`;

/** Native code has to be a file when it is loaded, and only then. */
const nativeLocks = `
  const { getRawAsset } = require("node:sea");
  const { mkdtempSync, rmSync, writeFileSync } = require("node:fs");
  const { tmpdir } = require("node:os");
  const { join } = require("node:path");
  let folder;
  try {
    folder = mkdtempSync(join(tmpdir(), "holdfast-"));
    writeFileSync(join(folder, "locks.node"), Buffer.from(getRawAsset("locks.node")));
    process.dlopen(module, join(folder, "locks.node"));
  } catch (error) {
    throw new Error("the kernel's file locks could not be unpacked to " + tmpdir() + " (" + error.message +
      "): set TMPDIR to a directory that can be written to, and from which programs may be run");
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
`;
const unpacked = {
  name: "unpacked",
  setup(bundler) {
    bundler.onLoad({ filter: new RegExp(`node_modules/${LOCKS}/binding\\.js$`) }, () => ({
      contents: nativeLocks,
    }));
  },
};

async function main() {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await build({
    absWorkingDir: root,
    stdin: { contents: entry, resolveDir: root, sourcefile: "executable.js" },
    outfile: join(folder, "holdfast.cjs"),
    bundle: true,
    platform: "node",
    target: "node24",
    // Only for Node 20, and what pages or a faster driver would have beside the executable.
    external: ["@photostructure/sqlite", "swagger-ui-dist", "pg-native"],
    plugins: [unpacked],
    define: { HOLDFAST_VERSION: JSON.stringify(version) },
    keepNames: true,
    legalComments: "eof",
    logLevel: "warning",
  });
  const platform = `${process.platform}-${process.arch}`;
  const config = {
    main: join(folder, "holdfast.cjs"),
    output: join(folder, "holdfast"),
    disableExperimentalSEAWarning: true,
    assets: { "locks.node": join(root, "node_modules", LOCKS, "prebuilds", platform, `${LOCKS}.node`) },
  };
  writeFileSync(join(folder, "executable.json"), JSON.stringify(config));
  execFileSync(builder(platform), ["--build-sea", join(folder, "executable.json")], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  console.log(join("build", "holdfast"));
}

function builder(platform) {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > 25 || (major === 25 && minor >= 5)) return process.execPath;
  const place = join(folder, "runtime");
  const name = `node-${platform}`;
  const install = ["install", "--prefix", place, "--no-audit", "--no-fund", "--silent", `${name}@${BUILDER}`];
  mkdirSync(place, { recursive: true });
  execFileSync("npm", install, { stdio: ["ignore", "ignore", "inherit"] });
  return join(place, "node_modules", name, "bin", "node");
}

void main();
